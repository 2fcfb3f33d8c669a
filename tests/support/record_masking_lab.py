"""A short clip of the Masking lab for the README: its curve dragged, presets, and batches.

The clock of the page stands still while a picture is taken, so a slow machine records the same.

python -m tests.support.record_masking_lab [FILE]
"""

from __future__ import annotations

import io
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.support.chromium import launch_chromium
from tests.support.paths import ROOT
from tests.support.studio import StudioServer, Visitor

FILE = ROOT / "docs" / "screenshots" / "masking-lab.webp"
LARGEST_BYTES = 3_000_000
FRAME_MS, LAST_FRAME_MS = 80, 1500
WIDTH, HEIGHT = 1280, 720
# The content of the page, without sidebar and bar.
CLIP = {"x": 236, "y": 60, "width": 1044, "height": 600}
PICTURE_SIZE = (870, 500)
A, B = "Curve, a: effect of missingness", "Curve, b: overall masking rate"
PRESETS = ("a too large", "Negative a", "The paper's choice")
PRESET_FRAMES, BATCH_FRAMES, PAUSE_FRAMES = 16, 24, 6


def main(file: Path = FILE) -> None:
    """Record the clip; fail if it is too large for a README."""
    with (
        tempfile.TemporaryDirectory() as home,
        StudioServer(Path(home)) as server,
        sync_playwright() as playwright,
    ):
        visitor = Visitor(launch_chromium(playwright), server.url, width=WIDTH, height=HEIGHT)
        visitor.page.emulate_media(reduced_motion="no-preference")
        visitor.page.clock.install()
        visitor.open("/masking_lab")
        visitor.page.clock.pause_at(visitor.page.evaluate("Date.now() + 1000"))
        frames = [frame(visitor) for _ in story(visitor)]
    durations = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    frames[0].save(
        file,
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        quality=60,
        method=4,
    )
    size = file.stat().st_size
    print(f"{file}: {len(frames)} frames, {size / 1024:.0f} kB")
    if size > LARGEST_BYTES:
        raise SystemExit("The clip is too large.")


def story(visitor: Visitor) -> Iterator[None]:
    """Do what the clip shows; each step is a frame."""
    yield from pause()
    yield from drag(visitor, B, lambda share: 70 * math.sin(2 * math.pi * share))
    yield from pause()
    yield from drag(visitor, A, lambda share: -60 * math.sin(2 * math.pi * share))
    yield from pause()
    for preset in PRESETS:
        visitor.press_button(preset)
        yield from pause(PRESET_FRAMES)
    visitor.press_button("Play batches")
    yield from pause(BATCH_FRAMES)
    visitor.press_button("Pause")
    yield from pause()


def pause(frames: int = PAUSE_FRAMES) -> Iterator[None]:
    """Let some time pass."""
    yield from [None] * frames


def drag(
    visitor: Visitor, handle: str, place: Callable[[float], float], steps: int = 28
) -> Iterator[None]:
    """Drag a handle of the curve up and down, and let it go where it was."""
    box = visitor.page.get_by_role("slider", name=handle).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visitor.page.mouse.move(x, y)
    visitor.page.mouse.down()
    for step in range(steps + 1):
        visitor.page.mouse.move(x, y + place(step / steps))
        yield
    visitor.page.mouse.up()


def frame(visitor: Visitor) -> Image.Image:
    """Return what the page shows one frame later, in the size of the clip."""
    visitor.page.clock.run_for(FRAME_MS)
    picture = Image.open(io.BytesIO(visitor.page.screenshot(clip=CLIP))).convert("RGB")
    return picture.resize(PICTURE_SIZE, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
