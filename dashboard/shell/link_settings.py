"""Which settings of which pages a link may carry: all others belong to their owner alone."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.state.allowed_values import AllowedValues


def allowed_in_links(section: str) -> Mapping[str, AllowedValues]:
    """Return what links may set in a section of a workspace, by name; nothing in most of them.

    Pages are imported when a link is for them: lessons take a moment to load.
    """
    match section:
        case "masking_lab":
            from dashboard.masking.lab import lab_settings

            return lab_settings()
        case "amputation_lab":
            from dashboard.amputation.controls import SETTINGS

            return SETTINGS
        case "learn":
            from dashboard.learn.exercises import lesson_settings

            return lesson_settings()
    return {}
