"""What people with weak eyes or a screen reader would stumble over, measured in the browser."""

from typing import Any, NamedTuple

from axe_playwright_python.sync_playwright import Axe

from tests.support.paths import ROOT
from tests.support.studio import Visitor

THEMES = ("light", "dark")
COLOR_RULES = ["color-contrast", "link-in-text-block"]
LEAST_CONTRAST = {"text": 4.5, "icon": 3.0}
LOW_CONTRASTS = (ROOT / "tests" / "support" / "contrast.js").read_text(encoding="utf-8")


class Allowed(NamedTuple):
    """What axe finds in Streamlit's own elements, and nobody but Streamlit can mend."""

    rule: str
    selector: str
    reason: str


ALLOWED = (
    Allowed(
        "list",
        '[data-testid="stSidebarNavItems"]',
        "The sections of the navigation stand as <div> between the list and its items.",
    ),
    Allowed(
        "listitem",
        '[data-testid="stSidebarNavItems"] li',
        "The same. The links themselves are named and in order.",
    ),
    Allowed(
        "aria-dialog-name",
        '[data-testid="stToast"]',
        "A toast names an element as its title that it does not have. Its text is read out.",
    ),
)


def violations(visitor: Visitor, theme: str = THEMES[0]) -> list[str]:
    """Return what axe finds serious or critical, except what is allowed.

    A theme changes colors alone, so in the second one only the rules about colors are asked.
    """
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if theme != THEMES[0]:
        options["runOnly"] = {"type": "rule", "values": COLOR_RULES}
    found = Axe().run(visitor.page, options=options).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary']}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
        if not is_allowed(visitor, violation["id"], node["target"][-1])
    ]


def is_allowed(visitor: Visitor, rule: str, target: str | list[str]) -> bool:
    if not isinstance(target, str):  # in a component of ours
        return False
    # What is gone again was a toast.
    matches = "([target, selector]) => document.querySelector(target)?.matches(selector) ?? true"
    return any(
        visitor.page.evaluate(matches, [target, allowed.selector])
        for allowed in ALLOWED
        if allowed.rule == rule
    )


def low_contrasts(visitor: Visitor) -> list[dict]:
    return visitor.page.evaluate(LOW_CONTRASTS, LEAST_CONTRAST)


def choose_theme(visitor: Visitor, theme: str, **media: str) -> None:
    visitor.page.emulate_media(color_scheme=theme, **media)
    visitor.settle(seconds=0.1)
