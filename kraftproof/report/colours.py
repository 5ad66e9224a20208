"""The colours of faults, the same in every picture."""

from typing import Final

COLOURS: Final = {
    "kill": "#e05252",
    "kill-all": "#b3261e",
    "pause": "#e0a030",
    "restart": "#7a6ff0",
    "partition": "#2f8fd8",
    "clock": "#2aa876",
    "lose-unsynced": "#c2428f",
    "disk-full": "#a06a3c",
    "disk-error": "#a06a3c",
    "slow-disk": "#c9a27e",
    "wipe": "#6d4320",
    "loss": "#7fb8e6",
    "reset": "#7fb8e6",
    "stall": "#7fb8e6",
    "clock-strobe": "#2aa876",
    "drift": "#1c7a54",
}
OTHER_COLOUR: Final = "#8a8f98"


def colour_of(kind: str) -> str:
    """Return the colour of a kind of fault."""
    return COLOURS.get(kind, OTHER_COLOUR)
