"""One meaning, one colour: verdicts, outcomes, faults and marks, the same on every page.

The colours that stand beside each other most (outcomes, the moment of a finding, the common faults)
differ for people who see no red, no green or no blue; a test holds it. A legend or a label says the
meaning wherever a colour is used, since no twenty colours can be told apart by all.
"""

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
"""Of verdicts, of outcomes, and of what proves a finding; `invalid` marks its moment, too."""
FAULTS: Final = {
    "kill": "#e8601c",
    "kill-all": "#8c2d04",
    "pause": "#5aa9e6",
    "restart": "#6b6b00",
    "partition": "#1f3f8f",
    "clock": "#e35fa8",
    "clock-strobe": "#b0558a",
    "drift": "#7d1d5a",
    "lose-unsynced": "#7f5539",
    "disk-full": "#4f3626",
    "disk-error": "#a8836a",
    "slow-disk": "#d8b48a",
    "wipe": "#2b2b2b",
    "loss": "#9fd6d2",
    "reset": "#00868b",
    "stall": "#3f6f75",
}
OTHER_COLOUR: Final = "#8a8f98"
"""Of a fault that a plug-in brings."""


def colour_of(kind: str) -> str:
    """Return the colour of a kind of fault."""
    return FAULTS.get(kind, OTHER_COLOUR)


def style() -> str:
    """Return the colours of meanings as variables of a style sheet."""
    return f":root {{ {' '.join(f'--{name}:{colour};' for name, colour in MEANINGS.items())} }}"
