"""Who may enter: everybody, or those whom an OpenID Connect provider knows.

Off by default. ``PMAE_LOGIN=oidc`` asks every visitor to log in through the provider that the
section ``[auth]`` of Streamlit's ``secrets.toml`` names; ``PMAE_LOGIN_ALLOW`` names the addresses
or domains (``jane@example.org,@example.com``) that may enter, all that log in without it.
"""

import os
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.errors import Error as StreamlitError

from dashboard.text import plain
from pmae_core.errors import PMAEError

LOGIN = "PMAE_LOGIN"
ALLOW = "PMAE_LOGIN_ALLOW"


class AccessError(PMAEError):
    """Logins are asked for, but cannot work as configured."""


def admitted() -> bool:
    """Say whether the visitor may see the pages; if not, draw what to do instead."""
    if not login_required():
        return True
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        raise AccessError(
            f"{LOGIN} asks for logins, but no provider is configured. Write the section [auth] "
            "into .streamlit/secrets.toml as docs/deployment.md shows, and start again."
        )
    if not user["is_logged_in"]:
        _show_login()
        return False
    if not is_allowed(user, os.environ.get(ALLOW, "")):
        _show_refusal(user)
        return False
    with st.sidebar:
        st.caption(plain(_name(user)))
        st.button("Log out", on_click=st.logout, icon=":material/logout:")
    return True


def login_required() -> bool:
    """Say whether the server asks visitors to log in."""
    wanted = os.environ.get(LOGIN, "")
    if wanted not in ("", "oidc"):
        raise AccessError(f"{LOGIN} must be 'oidc' or empty, not {wanted!r}.")
    return wanted == "oidc"


def is_allowed(user: Mapping[str, Any], allowed: str) -> bool:
    """Say whether a user's verified address is among those allowed, or all are.

    Parameters
    ----------
    user
        What the provider says of the user.
    allowed
        Addresses and domains with commas between, as ``jane@example.org,@example.com``.
    """
    entries = {entry.strip().lower() for entry in allowed.split(",") if entry.strip()}
    if not entries:
        return True
    address = str(user.get("email") or "").lower()
    # Some providers let people write any address, and say so.
    if not address or user.get("email_verified") is False:
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
    st.error(
        f"{plain(_name(user))} has no access. Log in with another account, or ask those who "
        "run this server to let you in.",
        icon=":material/block:",
    )
    st.button("Log out", on_click=st.logout, icon=":material/logout:")


def _name(user: Mapping[str, Any]) -> str:
    return str(user.get("email") or user.get("name") or "This account")
