"""A server behind a login and behind nginx, as docs/deployment.md sets it up, in operation.

A visitor who has logged in has a cookie that Streamlit signed; the tests sign it themselves, so
that no login provider is needed.
"""

import http.client
import json
import re
import shutil
import ssl
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from dashboard.shell import access
from tests.support.paths import ROOT
from tests.support.studio import StudioServer, free_port
from tests.support.wire import XSRF_COOKIE, WireVisitor, cookie_header

TEMPLATE = ROOT / "deploy" / "nginx.conf.template"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SECRET = "a secret of this test"
USER_COOKIE = "_streamlit_user"
BOUNDARY = "part"
ENOUGH_SECONDS = 30

needs_nginx = pytest.mark.skipif(
    shutil.which("nginx") is None or shutil.which("openssl") is None,
    reason="nginx or openssl is not installed (apt-get install nginx-light openssl)",
)


@pytest.fixture(scope="module")
def public_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory, public_port):
    """Run the dashboard with logins, known to the outside as https://localhost:PORT."""
    home = tmp_path_factory.mktemp("home")
    secrets = home / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text(
        f"""
        [auth]
        redirect_uri = "https://localhost:{public_port}/oauth2callback"
        cookie_secret = "{SECRET}"
        client_id = "test"
        client_secret = "test"
        server_metadata_url = "https://login.invalid/.well-known/openid-configuration"
        """,
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv(access.LOGIN, "oidc")
        patch.setenv(access.ALLOW, "@example.org")
        with StudioServer(home / "pmae", script="dashboard/server.py") as running:
            yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Give the folder in which nginx has its files."""
    return tmp_path_factory.mktemp("nginx")


@pytest.fixture(scope="module")
def proxy(server, public_port, folder):
    """Run nginx in front of the dashboard and return its address."""
    _write_configuration(folder, upstream=urlsplit(server.url).netloc, port=public_port)
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "error.log"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    nginx = subprocess.Popen([*command, "-g", "daemon off;"])
    address = f"https://localhost:{public_port}"
    deadline = time.monotonic() + ENOUGH_SECONDS
    while time.monotonic() < deadline:
        try:
            ask(address, "GET", "/_stcore/health")
            break
        except ConnectionError:
            time.sleep(0.05)
    yield address
    nginx.terminate()
    nginx.wait()


def _write_configuration(folder: Path, upstream: str, port: int) -> None:
    """Install the template as docs/deployment.md does, on ports that tests may use."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")),
            *("-subj", "/CN=localhost"),
        ],
        check=True,
        capture_output=True,
    )
    text = TEMPLATE.read_text(encoding="utf-8")
    values = {"HOST": "localhost", "UPSTREAM": upstream, "CERTIFICATES": str(folder)}
    for name, value in values.items():
        text = text.replace(f"${{PMAE_{name}}}", value)
    for usual, here in {"80": free_port(), "443 ssl": f"{port} ssl"}.items():
        assert f"listen {usual};" in text
        text = text.replace(f"listen {usual};", f"listen 127.0.0.1:{here};")
    text = text.replace("/var/log/nginx/", f"{folder}/")
    (folder / "pmae.conf").write_text(text, encoding="utf-8")
    scratch = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nevents {{}}\nhttp {{\n{scratch}include {folder}/pmae.conf;\n}}\n"
    )


def ask(address, method, path, body=None, headers=()):
    """Send a request; return its status and headers."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(parts.netloc, timeout=30, context=trusting())
    else:
        connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers
    finally:
        connection.close()


def trusting() -> ssl.SSLContext:
    """Return a context that takes the certificate of the test for what it is."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def cookies_of(address, public_port, user=None):
    """Return the cookies of a browser, logged in as a user or not at all."""
    _, headers = ask(address, "GET", "/_stcore/health")
    xsrf = re.search(rf"{XSRF_COOKIE}=([^;]+)", headers["Set-Cookie"])[1]
    if user is None:
        return {XSRF_COOKIE: xsrf}
    content = {"origin": f"https://localhost:{public_port}", "is_logged_in": True, **user}
    signed = create_signed_value(SECRET, USER_COOKIE, json.dumps(content)).decode()
    return {XSRF_COOKIE: xsrf, USER_COOKIE: signed}


def upload(address, session, cookies, content=b"a,b\n1,2\n"):
    """Send a file as the browser does; return the status."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
    headers = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "X-Xsrftoken": cookies[XSRF_COOKIE],
        **cookie_header(cookies),
    }
    body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    path = f"/_stcore/upload_file/{session}/one"
    return ask(address, "PUT", path, body, headers)[0]


def visit(address, cookies):
    """Return a visitor of a page, who is asked to log in or not."""
    return WireVisitor(address, patience=ENOUGH_SECONDS, cookies=cookies, ssl=trusting())


JANE = {"email": "jane@example.org", "email_verified": True}


@needs_nginx
@pytest.mark.parametrize(
    ("user", "button", "status"),
    [
        (None, "Log in", 403),
        (JANE, "Log out", 204),
        ({**JANE, "email": "eve@example.com"}, "Log out", 403),
        ({"email": "jane@example.org"}, "Log out", 403),
    ],
    ids=["nobody", "allowed", "not allowed", "not verified"],
)
def test_uploads_are_taken_of_those_who_may_see_the_pages(proxy, public_port, user, button, status):
    cookies = cookies_of(proxy, public_port, user)

    with visit(proxy, cookies) as visitor:
        visitor.open("")

        assert button in visitor.labels("button")
        assert upload(proxy, visitor.session, cookies) == status


@needs_nginx
def test_a_large_upload_of_a_stranger_is_not_held_in_memory(proxy, public_port, server):
    cookies = cookies_of(proxy, public_port)
    before = server.memory()

    with visit(proxy, cookies) as visitor:
        visitor.open("")
        try:
            status = upload(proxy, visitor.session, cookies, bytes(50_000_000))
        except ConnectionError:  # closed while this side was still sending
            status = 403

    # The dashboard hangs up after its answer, which nginx may notice before it reads that.
    assert status in (403, 502)
    assert server.memory() - before < 25_000_000


@needs_nginx
@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/metrics", "/nothing.js"])
def test_every_answer_has_the_headers_of_the_proxy_once(proxy, path):
    _, headers = ask(proxy, "GET", path)

    assert headers.get_all("Referrer-Policy") == ["same-origin"]
    assert headers.get_all("X-Content-Type-Options") == ["nosniff"]
    assert headers.get_all("X-Frame-Options") == ["SAMEORIGIN"]
    assert headers.get_all("Content-Security-Policy") == ["frame-ancestors 'self'"]
    assert headers.get_all("Strict-Transport-Security") == ["max-age=31536000"]


@needs_nginx
def test_the_proxy_closes_what_nobody_outside_needs(proxy):
    assert ask(proxy, "GET", "/_stcore/metrics")[0] == 404
    assert ask(proxy, "POST", "/", bytes(2_000_000))[0] == 413


@needs_nginx
def test_the_log_of_the_proxy_has_no_keys(proxy, folder):
    ask(proxy, "GET", "/data?w=key-of-a-workspace")

    log = (folder / "access.log").read_text()
    assert '"GET /data"' in log
    assert "key-of-a-workspace" not in log


def test_a_server_with_logins_refuses_strangers_without_a_proxy_too(server, public_port):
    cookies = cookies_of(server.url, public_port)

    with WireVisitor(server.url, patience=ENOUGH_SECONDS, cookies=cookies) as visitor:
        visitor.open("")

        assert visitor.labels("button") == ["Log in"]
        assert upload(server.url, visitor.session, cookies) == 403
    assert ask(server.url, "GET", "/_stcore/metrics")[0] == 403
    assert server.failures() == []


# The files fit together


def test_compose_gives_the_proxy_all_that_its_template_names():
    service = COMPOSE["services"]["proxy"]
    named = set(re.findall(r"\$\{(\w+)\}", TEMPLATE.read_text(encoding="utf-8")))
    template, certificates = (volume.rsplit(":", 2) for volume in service["volumes"])

    assert set(service["environment"]) == named
    assert (ROOT / template[0]).samefile(TEMPLATE)
    assert certificates[1] == service["environment"]["PMAE_CERTIFICATES"]
    assert service["environment"]["PMAE_UPSTREAM"] == "dashboard:8501"


def test_the_limit_of_uploads_is_that_of_the_dashboard():
    settings = (ROOT / "dashboard" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    megabytes = int(re.search(r"maxUploadSize = (\d+)", settings)[1])

    assert f"client_max_body_size {megabytes + 1}m;" in TEMPLATE.read_text(encoding="utf-8")
