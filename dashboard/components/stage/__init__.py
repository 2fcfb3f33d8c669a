"""A stage: a picture in several states, between which the browser animates."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.components.stage.scene import Scene, digest_of

_HERE = Path(__file__).parent
# A component has one script; these are its parts, in the order in which they use each other.
_SCRIPTS = ("numbers.js", "drawing.js", "layers.js", "panel.js", "stage.js")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "pmae_stage",
    html=_read("stage.html"),
    css=_read("stage.css"),
    js="\n".join(_read(name) for name in _SCRIPTS),
)


def show_stage(scene: Scene, *, key: str, play: bool = False) -> float | None:
    """Draw a scene, and let the reader move through its states.

    Parameters
    ----------
    scene
        What to show. The browser keeps its place in a scene over reruns; another scene under the
        same key begins at its first state.
    key
        Unique on the page.
    play
        Move from the first state to the last, once. A scene with a slider moves from the
        slider's first value to its start.

    Returns
    -------
    float or None
        The value of the slider when it was released last; None without a slider.
    """
    data = scene.data()
    digest = digest_of(data)
    value = _released_value(scene, key, digest)
    _mount(
        key=key,
        data={"key": key, "digest": digest, "scene": data, "play": play, "value": value},
        on_moved_change=lambda: None,  # Streamlit keeps only values that have a callback
    )
    return value


def _released_value(scene: Scene, key: str, digest: str) -> float | None:
    if scene.slider is None:
        return None
    moved = (st.session_state.get(key) or {}).get("moved")
    # What was released in another scene under this key says nothing about this one.
    if moved is None or moved["digest"] != digest:
        return scene.slider.start
    return float(moved["value"])
