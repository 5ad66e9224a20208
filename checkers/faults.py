"""Reads faults.jsonl, and tells when faults were in force.

The phases are those of `checkers.schema`. Not here: whether the faults bit (the run says so).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from checkers.verdict import CheckerInputError

_UNTIL_THE_END: Final = 1 << 62


class FaultEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One line of faults.jsonl."""

    index: int
    time: int
    phase: str
    fault: str
    kind: str
    targets: object = None
    detail: object = None


def read_faults(path: Path) -> list[FaultEvent]:
    """Returns the fault events of a run; none where it wrote none."""
    if not path.exists():
        return []
    decoder = msgspec.json.Decoder(FaultEvent)
    events = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise CheckerInputError(f"{path}: can't be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            events.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CheckerInputError(f"{path}:{number}: {error}") from error
    return events


def disturbances(events: Iterable[FaultEvent]) -> tuple[tuple[int, int], ...]:
    """Returns when faults were in force, wall-clock faults apart: they excuse nothing."""
    started: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for event in events:
        if "clock" in event.kind:
            continue
        if event.phase == "moot":
            started.pop(event.fault, None)
        elif event.phase == "healed":
            spans.append((started.pop(event.fault, event.time), event.time))
        else:
            started.setdefault(event.fault, event.time)
    spans.extend((start, _UNTIL_THE_END) for start in started.values())
    return tuple(sorted(spans))
