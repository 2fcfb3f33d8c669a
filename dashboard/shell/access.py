"""Who may enter: everybody, or those whom an OpenID Connect provider knows.

Off by default. ``PMAE_LOGIN=oidc`` asks every visitor to log in through the provider that the
section ``[auth]`` of Streamlit's ``secrets.toml`` names; ``PMAE_LOGIN_ALLOW`` names the addresses
or domains (``jane@example.org,@example.com``) that may enter, all that log in without it. An
address counts only if the provider says that it is verified, or with
``PMAE_LOGIN_UNVERIFIED=allow``.
"""

import os
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.errors import Error as StreamlitError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.shell.gate import Gate, note_admission
from dashboard.text import plain
from pmae_core.errors import PMAEError

LOGIN = "PMAE_LOGIN"
ALLOW = "PMAE_LOGIN_ALLOW"
UNVERIFIED = "PMAE_LOGIN_UNVERIFIED"


class AccessError(PMAEError):
    """Logins are asked for, but cannot work as configured."""


def admitted() -> bool:
    """Say whether the visitor may see the pages; if not, draw what to do instead."""
    admitted = not login_required() or _is_let_in()
    if context := get_script_run_ctx():
        note_admission(context.session_id, admitted=admitted)
    return admitted


def _is_let_in() -> bool:
    """Say whether the visitor is logged in and allowed; if not, draw what to do instead."""
    if not Gate.is_in_place:
        raise AccessError(
            f"{LOGIN} asks for logins, but this server would take files from visitors who have "
            "not logged in. Start it with: pmae serve"
        )
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        raise AccessError(
            f"{LOGIN} asks for logins, but no provider is configured. Write the section [auth] "
            "into .streamlit/secrets.toml as docs/deployment.md shows, and start again."
        )
    if not user["is_logged_in"]:
        _show_login()
        return False
    if not is_allowed(user, os.environ.get(ALLOW, ""), unverified=unverified_allowed()):
        _show_refusal(user)
        return False
    with st.sidebar:
        st.caption(plain(_name(user)))
        st.button("Log out", on_click=st.logout, icon=":material/logout:")
    return True


def login_required() -> bool:
    """Say whether the server asks visitors to log in."""
    return _is_set(LOGIN, "oidc")


def unverified_allowed() -> bool:
    """Say whether addresses count that the provider does not call verified."""
    return _is_set(UNVERIFIED, "allow")


def _is_set(variable: str, word: str) -> bool:
    """Say whether a variable of the environment has its only word, or is empty."""
    wanted = os.environ.get(variable, "")
    if wanted not in ("", word):
        raise AccessError(f"{variable} must be {word!r} or empty, not {wanted!r}.")
    return wanted == word


def is_allowed(user: Mapping[str, Any], allowed: str, *, unverified: bool = False) -> bool:
    """Say whether a user's verified address is among those allowed, or all are.

    Parameters
    ----------
    user
        What the provider says of the user.
    allowed
        Addresses and domains with commas between, as ``jane@example.org,@example.com``.
    unverified
        Whether an address counts without the provider's word that it is verified.
    """
    entries = {entry.strip().lower() for entry in allowed.split(",") if entry.strip()}
    if not entries:
        return True
    address = str(user.get("email") or "").lower()
    # Some providers let people enter any address. Only True says that it is theirs.
    if not address or not (unverified or user.get("email_verified") is True):
        return False
    return not entries.isdisjoint({address, "@" + address.rpartition("@")[2]})


def _show_login() -> None:
    st.title("PMAE Studio")
    st.markdown("Log in to open your tables.")
    if st.button("Log in", type="primary", icon=":material/login:"):
        try:
            st.login()
        except StreamlitError as error:
            raise AccessError(f"Nobody can log in: {error}") from error


def _show_refusal(user: Mapping[str, Any]) -> None:
    allowed = os.environ.get(ALLOW, "")
    why = ""
    if is_allowed(user, allowed, unverified=True):
        why = " because the login provider has not verified this address"
    st.error(
        f"{plain(_name(user))} has no access{why}. Log in with another account, or ask those who "
        "run this server to let you in.",
        icon=":material/block:",
    )
    st.button("Log out", on_click=st.logout, icon=":material/logout:")


def _name(user: Mapping[str, Any]) -> str:
    return str(user.get("email") or user.get("name") or "This account")
