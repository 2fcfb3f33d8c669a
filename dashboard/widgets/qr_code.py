"""QR codes of links."""

from __future__ import annotations

from html import escape

import segno
import streamlit as st


def show_qr(link: str, *, caption: str, width: int) -> None:
    """Draw the QR code of a link, black on white in both themes: cameras need that.

    Parameters
    ----------
    link
        What telephones open.
    caption
        What to do with it; also read out to those who do not see the picture.
    width
        In pixels.
    """
    # Pictures of `st.image` have no words for those who do not see them.
    picture = segno.make(link, error="m", micro=False).svg_data_uri(
        border=2, dark="#000", light="#fff", scale=8
    )
    st.html(
        f'<img src="{escape(picture)}" alt="{escape(caption)}" width="{width}" height="{width}">'
    )
    st.caption(caption)
