from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from dashboard.state import one_time_codes
from dashboard.state.one_time_codes import create_code, is_waiting, redeem_code
from dashboard.state.workspace import Workspace

MINUTE = 60.0


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    return Workspace.create()


def files(home):
    return list((home / "one_time_codes").iterdir())


def test_a_code_opens_its_workspace_once(workspace):
    made = create_code(workspace)
    assert is_waiting(made)

    assert redeem_code(made.code) == workspace.token
    assert redeem_code(made.code) is None
    assert not is_waiting(made)


def test_codes_of_two_workspaces_open_each_its_own(workspace):
    other = Workspace.create()
    codes = [create_code(other).code, create_code(workspace).code]

    assert [redeem_code(code) for code in codes] == [other.token, workspace.token]


def test_a_code_expires(workspace):
    made = create_code(workspace, now=0.0)
    last = one_time_codes.MINUTES * MINUTE
    assert made.expires_at == last
    assert is_waiting(made, now=last - 1)
    assert not is_waiting(made, now=last)

    assert redeem_code(made.code, now=last) is None
    assert redeem_code(made.code, now=0.0) is None, "and is gone for good"
    assert redeem_code(create_code(workspace, now=0.0).code, now=last - 1) == workspace.token


def test_of_many_browsers_that_come_at_once_exactly_one_enters(workspace):
    browsers = 8
    for _ in range(25):
        code, start = create_code(workspace).code, Barrier(browsers)

        def enter(_, code=code, start=start):
            start.wait()
            return redeem_code(code)

        with ThreadPoolExecutor(browsers) as pool:
            entered = list(pool.map(enter, range(browsers)))
        assert [token for token in entered if token is not None] == [workspace.token]


def test_a_code_cannot_be_guessed_and_not_be_read_from_the_disk(workspace, tmp_path):
    codes = {create_code(workspace).code for _ in range(100)}

    assert len(codes) == 100
    assert min(map(len, codes)) >= 32  # 24 random bytes
    stored = "".join(path.name + path.read_text() for path in files(tmp_path))
    assert not any(code in stored for code in codes)


@pytest.mark.parametrize("code", ["", ".", "..", "../workspaces", "x" * 10_000, "é\0"])
def test_what_is_no_code_opens_nothing(workspace, code):
    made = create_code(workspace)

    assert redeem_code(code) is None
    assert redeem_code(made.code[:-1]) is None
    assert is_waiting(made)


def test_the_name_of_a_file_is_no_code(workspace, tmp_path):
    create_code(workspace)
    (path,) = files(tmp_path)

    assert redeem_code(path.name) is None


def test_expired_codes_are_removed_when_the_next_is_made(workspace, tmp_path):
    made = create_code(workspace)
    assert len(files(tmp_path)) == 1
    create_code(workspace, now=made.expires_at + MINUTE)

    assert len(files(tmp_path)) == 1
    assert redeem_code(made.code) is None


def test_nobody_else_on_the_machine_reads_the_codes(workspace, tmp_path):
    create_code(workspace)

    assert (tmp_path / "one_time_codes").stat().st_mode & 0o077 == 0
