"""QR codes of links."""

from __future__ import annotations

import io

import segno
import streamlit as st


def show_qr(link: str, *, caption: str, width: int) -> None:
    """Draw the QR code of a link, black on white in both themes: cameras need that.

    Parameters
    ----------
    link
        What telephones open.
    caption
        What to do with it; also read out to those who do not see it.
    width
        In pixels.
    """
    st.image(qr_svg(link), caption=caption, width=width)


@st.cache_data(max_entries=64, show_spinner=False)
def qr_svg(link: str) -> str:
    """Return the QR code of a link as a picture in SVG."""
    content = io.BytesIO()
    code = segno.make(link, error="m", micro=False)
    code.save(content, kind="svg", border=2, dark="#000", light="#fff", xmldecl=False, scale=8)
    return content.getvalue().decode()
