"""A link for the camera of a telephone."""

from html import escape

import segno
import streamlit as st


def show_qr_code(link: str, *, label: str, width: int = 200) -> None:
    """Draw a link as a QR code: black on white in both themes, since few cameras read others.

    Parameters
    ----------
    link
        What a camera opens.
    label
        What a screen reader says.
    width
        In pixels.
    """
    picture = segno.make_qr(link).svg_data_uri(dark="#000000", light="#FFFFFF")
    st.html(f'<img src="{escape(picture)}" alt="{escape(label)}" width="{width}" height="{width}">')
