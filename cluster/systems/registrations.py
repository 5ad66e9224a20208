"""Registrations of controllers, as the logs of a cluster have them."""

from typing import NamedTuple


class Registration(NamedTuple):
    """A registration of a process of a controller, in a log."""

    controller: int
    incarnation: str
    """The id of the process, drawn at its start."""
    timestamp_ms: int
    """The wall-clock time of the batch."""
