"""The model `log`: send, poll, txn of both, and assign, judged by the offsets in answers.

Logs are compared as they were seen, not searched for an order: no offset has two values, no value
two offsets; what was polled had been sent; what was acknowledged at an offset that a consumer went
past is in some poll; and a process that was assigned logs polls each of them in order and leaves
none out. A consumer may start anywhere: records before its first polled record are not lost.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from typing_extensions import override

from kraftproof.checkers.calls.append_log import GREATEST
from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.logs.actions import Record, polled, require_actions, sent
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.models.reasons import may_count
from kraftproof.checkers.models.starting import Step, require_records
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind

_ASSIGNS = frozenset({"assign", "subscribe"})
_BEGINNING = -GREATEST
Seen = tuple[Operation, Record]
Stretch = tuple[int, int]
"""The first and the last offset of a consecutive read of a log by a consumer."""


class Log(PropertyModel):
    """Logs by name, with offsets."""

    name = "log"
    functions = frozenset({"send", "poll", "txn", "assign", "subscribe"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f not in _ASSIGNS:
            require_actions(operation)

    def places(self, key: str, operations: Iterable[Operation]) -> Mapping[str, str]:
        """Return the logs named by operations."""
        own = [one for one in operations if one.f not in _ASSIGNS]
        seen = (record.log for one in own for record in (*sent(one), *polled(one)))
        return {log: log for log in seen}

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the sends of the records that the logs hold at first."""
        assert isinstance(value, dict)
        steps: list[Step] = []
        for log, held in value.items():
            for offset, one in require_records(held, "a log starts with", GREATEST):
                steps.append(("send", [["send", log, one]], [["send", log, [offset, one]]]))
        return steps

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        own = [one for one in operations if one.f not in _ASSIGNS]
        sends = [(one, record) for one in own for record in sent(one)]
        polls = [(one, record) for one in own for record in polled(one)]
        observed = [seen for seen in sends if seen[1].offset is not None] + polls
        observed.sort(key=lambda seen: seen[0].index)
        problems = [
            *_conflicts(observed),
            *_unsent(sends, polls),
            *_lost(operations, sends, polls),
            *_disordered(operations, observed),
        ]
        return [_finding(key, *problem) for problem in problems]


Problem = tuple[str, Operation, str]
"""The check's name, the operation, and what is wrong."""


def _finding(key: str, check: str, operation: Operation, fact: str) -> Finding:
    return Finding(
        check=f"log/{check}",
        kind=FindingKind.SAFETY,
        sentence=fact,
        key=key,
        operation_index=operation.index,
        fact=fact,
    )


def _conflicts(observed: Iterable[Seen]) -> Iterator[Problem]:
    """Yield offsets of two values, and values at two offsets."""
    at: dict[tuple[str, int | None], Seen] = {}
    of: dict[tuple[str, str], Seen] = {}
    for one, record in observed:
        other, there = at.setdefault((record.log, record.offset), (one, record))
        if there.value != record.value:
            values = f"{shortened(record.value)}, {phrase(other)} found {shortened(there.value)}"
            yield "one-value", one, f"offset {record.offset} of {record.log} is {values}"
        other, there = of.setdefault((record.log, record.value), (one, record))
        if there.offset != record.offset:
            where = f"offset {record.offset} and, by {phrase(other)}, at offset {there.offset}"
            value = shortened(record.value)
            yield "duplicate", one, f"{value} is in {record.log} twice: at {where}"


def _unsent(sends: Iterable[Seen], polls: Iterable[Seen]) -> Iterator[Problem]:
    """Yield polled records that cannot have been sent by then."""
    senders: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for one, record in sends:
        senders[record.log, record.value].append(one)
    for one, record in polls:
        some = senders[record.log, record.value]
        if not any(may_count(sender, one) for sender in some):
            why = "no operation ever sent it"
            if some:
                failed = some[0].status == "fail"
                why = f"{phrase(some[0])} {'failed' if failed else 'began only later'}"
            yield "sent", one, f"{shortened(record.value)} was polled of {record.log}, but {why}"


def _lost(
    operations: Iterable[Operation], sends: Iterable[Seen], polls: Iterable[Seen]
) -> Iterator[Problem]:
    """Yield acknowledged records that no poll returned, between offsets polled by one consumer."""
    found = {(record.log, record.value) for _, record in polls}
    stretches = _stretches(operations)
    for one, record in sends:
        if record.offset is None or (record.log, record.value) in found:
            continue
        around = [last for first, last in stretches[record.log] if first <= record.offset <= last]
        if around:
            where = f"offset {record.offset} of {record.log}"
            why = f"no poll found it, though offset {max(around)} was polled"
            yield "lost", one, f"{shortened(record.value)} was acknowledged at {where}; {why}"


def _stretches(operations: Iterable[Operation]) -> Mapping[str, Collection[Stretch]]:
    """Return the ranges of offsets that the consumers read in each log.

    A process without an assignment reads each log from its beginning. Any other process may have
    started anywhere, for example at the end, so its first record shows its start.
    """
    found: dict[str, list[Stretch]] = defaultdict(list)
    reading: dict[tuple[int, str], Stretch] = {}
    placed: set[int] = set()
    for one in operations:
        if one.f in _ASSIGNS or one.status != "ok":
            placed.add(one.process)
            for process, log in [place for place in reading if place[0] == one.process]:
                found[log].append(reading.pop((process, log)))
            continue
        for record in polled(one):
            assert record.offset is not None
            start = record.offset if one.process in placed else _BEGINNING
            first, last = reading.get((one.process, record.log), (start, record.offset))
            reading[one.process, record.log] = first, max(last, record.offset)
    for (_, log), stretch in reading.items():
        found[log].append(stretch)
    return found


def _disordered(operations: Iterable[Operation], observed: Iterable[Seen]) -> Iterator[Problem]:
    """Yield polls that go back, or leave out an offset, since the process was assigned logs."""
    known: dict[str, set[int]] = defaultdict(set)
    for _, record in observed:
        assert record.offset is not None
        known[record.log].add(record.offset)
    after = {log: _followers(offsets) for log, offsets in known.items()}
    reached: dict[tuple[int, str], int] = {}
    for one in operations:
        if one.f in _ASSIGNS or one.status != "ok":
            reached = {place: last for place, last in reached.items() if place[0] != one.process}
            continue
        for record in polled(one):
            assert record.offset is not None
            last = reached.get((one.process, record.log))
            reached[one.process, record.log] = record.offset
            if last is None:
                continue
            moved = f"process {one.process} polled offset {record.offset} of {record.log}"
            if record.offset <= last:
                yield "order", one, f"{moved} after offset {last}"
            elif after[record.log][last] < record.offset:
                left_out = after[record.log][last]
                yield "skipped", one, f"{moved} right after {last}, and left out {left_out}"


def _followers(offsets: Iterable[int]) -> dict[int, int]:
    ordered = sorted(offsets)
    return dict(zip(ordered, [*ordered[1:], 1 << 63], strict=True))
