"""Colours of verdicts, outcomes, faults and marks: one meaning per colour on all pages.

The colours that often stand side by side (outcomes, the time of a finding, the common faults) are
distinguishable with any kind of colour blindness, which a test verifies. Every use of a colour has
a legend or a label, since nobody can distinguish twenty colours reliably.
"""

from collections.abc import Mapping
from typing import Final

MEANINGS: Final = {
    "valid": "#117733",
    "invalid": "#c2003b",
    "unknown": "#8a6d00",
    "ok": "#12876f",
    "fail": "#e6ab02",
    "info": "#8f5fd0",
    "needed": "#0b69c7",
}
"""Colours of verdicts, outcomes and proofs; `invalid` also marks the time of a finding."""
DARK: Final = {
    "valid": "#4fc27c",
    "invalid": "#ff6a8f",
    "unknown": "#dbb934",
    "ok": "#23a588",
    "info": "#a67de0",
    "needed": "#6cb2ff",
}
"""Lighter shades of the same meanings for readers who prefer dark pages."""
FAULTS: Final = {
    "kill": "#e8601c",
    "kill-all": "#8c2d04",
    "pause": "#5aa9e6",
    "restart": "#6b6b00",
    "partition": "#1f3f8f",
    "isolate": "#5b3fa8",
    "clock": "#e35fa8",
    "clock-strobe": "#b0558a",
    "drift": "#7d1d5a",
    "lose-unsynced": "#7f5539",
    "disk-full": "#4f3626",
    "disk-error": "#a8836a",
    "slow-disk": "#d8b48a",
    "wipe": "#2b2b2b",
    "failed-directory": "#6e4b2a",
    "bit-rot": "#c9a227",
    "aimed-crash": "#b22222",
    "loss": "#9fd6d2",
    "reset": "#00868b",
    "stall": "#3f6f75",
    "latency": "#2f9e8f",
    "bandwidth": "#5f8f3f",
    "slow-close": "#7fb069",
    "limit-data": "#4a7c59",
    "stop": "#c46a2f",
    "rolling": "#9a7b00",
    "taken-port": "#a0522d",
    "lost-name": "#996515",
    "cpu": "#6a5acd",
    "memory": "#483d8b",
    "clock-drift": "#c71585",
}
OTHER_COLOUR: Final = "#8a8f98"
"""Colour of the faults of plug-ins."""


def colour_of(kind: str) -> str:
    """Return the colour of a kind of fault."""
    return FAULTS.get(kind, OTHER_COLOUR)


def style() -> str:
    """Return the colours of meanings as variables of a style sheet."""
    return f":root {{ {_variables(MEANINGS)} }}"


def dark_style() -> str:
    """Return the rule that replaces colours of meanings on dark pages."""
    return f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"


def dark_theme() -> str:
    """Return the rule that replaces colours of meanings on pages with a switch for the theme."""
    return f":root[data-theme=dark] {{ {_variables(DARK)} }}"


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}:{colour};" for name, colour in colours.items())
