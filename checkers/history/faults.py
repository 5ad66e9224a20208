"""Reads faults.jsonl and returns the time spans of faults.

The phases are those of `checkers.history.schema`. Not here: whether the faults bit (the run says
so).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers.text import shown
from kraftproof.checkers.verdict import CheckerInputError, NearFault

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
    """Return the fault events of a run; empty if the run wrote no faults."""
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


class FaultSpan(msgspec.Struct, frozen=True, kw_only=True):
    """The time span in which a fault was in force.

    Attributes:
        name: its name in the schedule.
        kind: the sort of fault.
        target: the affected nodes, in words.
        start: when it was applied, in ns of the history.
        begun: when the application began; None if that is not known. A fault can have effects
            between the two times.
        end: the time of healing; None for a fault that was never healed.
    """

    name: str
    kind: str
    target: str
    start: int
    begun: int | None = None
    end: int | None = None


def fault_spans(events: Iterable[FaultEvent]) -> tuple[FaultSpan, ...]:
    """Return when each fault that was applied was in force, by its beginning."""
    spans: dict[str, FaultSpan] = {}
    begun: dict[str, int] = {}
    for event in events:
        if event.phase == "intent":
            begun[event.fault] = event.time
        elif event.phase == "applied":
            spans[event.fault] = FaultSpan(
                name=event.fault,
                kind=event.kind,
                target=_target(event.targets),
                start=event.time,
                begun=begun.get(event.fault),
            )
        elif event.phase == "healed" and event.fault in spans:
            spans[event.fault] = msgspec.structs.replace(spans[event.fault], end=event.time)
    return tuple(sorted(spans.values(), key=lambda span: (span.start, span.name)))


def _target(targets: object) -> str:
    """Return the targets of a fault in words: node 2; nodes 1, 3; or whatever a system calls them.

    A target with a longer name has only the longer name.
    """
    if not isinstance(targets, list | tuple):
        return "" if targets is None else shown(targets)
    numbered = all(isinstance(one, int) for one in targets)
    noun = ("node " if len(targets) == 1 else "nodes ") if numbered and targets else ""
    return noun + ", ".join(map(shown, targets))


def faults_near(spans: Iterable[FaultSpan], at_ns: int) -> tuple[NearFault, ...]:
    """Return the faults in force at a time, the latest first; else the one healed last before."""
    begun = [span for span in spans if _begun(span) <= at_ns]
    in_force = [span for span in begun if span.end is None or at_ns < span.end]
    if in_force:
        return tuple(_near(span, at_ns, span.start) for span in reversed(in_force))
    healed = [(span.end, span) for span in begun if span.end is not None]
    if not healed:
        return ()
    end, last = max(healed, key=lambda one: one[0])
    return (_near(last, at_ns, end, is_in_force=False),)


def _begun(span: FaultSpan) -> int:
    return span.start if span.begun is None else span.begun


def _near(span: FaultSpan, at_ns: int, since_ns: int, *, is_in_force: bool = True) -> NearFault:
    return NearFault(
        name=span.name,
        kind=span.kind,
        target=span.target,
        seconds_before=max(0, at_ns - since_ns) / 1e9,
        is_in_force=is_in_force,
    )


def disturbances(events: Iterable[FaultEvent]) -> tuple[tuple[int, int], ...]:
    """Return the time spans of faults, without wall-clock faults, which excuse nothing."""
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
