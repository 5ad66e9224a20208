"""Judges histories of Jepsen's Kafka tests: send, poll, txn of both, assign, subscribe.

The semantics are those of jepsen.tests.kafka, whose anomalies are named in brackets. No offset has
two values [inconsistent-offsets], no value two offsets [duplicate]; a polled value had been sent
[G1a], and not by the polling transaction itself [precommitted-read]; the polls contain what was
acknowledged at an offset that a consumer went past [lost-write]; the sends of a process are in the
log in their order [nonmonotonic-send], but for a send without an answer, after which the process
has a new client; and a process that was assigned logs polls each of them in
order [nonmonotonic-poll] and leaves none out [poll-skip]. A consumer may start anywhere: records
before its first polled record are not lost. A consumer that subscribed may go back or leave out
records between two operations, and inside of an operation in the logs of its rebalances. At the end
of a test with final polls, which `debug-topic-partitions` shows, the polls contain all acknowledged
values [unseen]. Cycles of transactions are not searched.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from kraftproof.checkers.calls.append_log import GREATEST
from kraftproof.checkers.findings import finding_of, phrase
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.logs.actions import Record, polled, rebalanced, sent
from kraftproof.checkers.models.reasons import may_count
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding

MANAGEMENT: Final = frozenset({"assign", "subscribe", "crash", "debug-topic-partitions"})
"""Operations on the clients, which neither send nor poll."""
ACTING: Final = frozenset({"send", "poll", "txn"})
"""Operations that send or poll; all others concern clients or topics."""
FINAL_POLLS: Final = "debug-topic-partitions"
NOTHING_SENT: Final = "no send was acknowledged: nothing was checked"
NOTHING_POLLED: Final = "no poll returned a record: what was acknowledged was not checked"
_BEGINNING = -GREATEST
Seen = tuple[Operation, Record]
Stretch = tuple[int, int]
"""The first and the last offset of a consecutive read of a log by a consumer."""


def jepsen_findings(key: str, operations: Sequence[Operation]) -> list[Finding]:
    """Return the findings on operations in the form of Jepsen's Kafka tests."""
    own = [one for one in operations if one.f in ACTING]
    sends = [(one, record) for one in own for record in sent(one)]
    polls = [(one, record) for one in own for record in polled(one)]
    observed = [seen for seen in sends if seen[1].offset is not None] + polls
    observed.sort(key=lambda seen: seen[0].index)
    problems = [
        *_conflicts(observed),
        *_unsent(sends, polls),
        *_lost(operations, sends, polls),
        *_disordered(operations, observed),
        *_own_reads(own),
        *_sends_out_of_order(operations, observed),
        *(_unseen(sends, polls) if any(one.f == FINAL_POLLS for one in operations) else ()),
    ]
    return [_finding(key, *problem) for problem in problems]


def nothing_checked(operations: Sequence[Operation]) -> str | None:
    """Return why a history without a finding is not valid; None if its answers were checked."""
    own = [one for one in operations if one.f in ACTING]
    if not any(record.offset is not None for one in own for record in sent(one)):
        return NOTHING_SENT
    return None if any(True for one in own for _ in polled(one)) else NOTHING_POLLED


Problem = tuple[str, Operation, str]
"""The check's name, the operation, and what is wrong."""


def _finding(key: str, check: str, operation: Operation, fact: str) -> Finding:
    return finding_of(f"log/{check}", key, operation, fact)


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
        if one.f not in ACTING or one.status != "ok":
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
    subscribed: dict[int, bool] = {}
    for one in operations:
        if one.f in {"assign", "subscribe"}:
            subscribed[one.process] = one.f == "subscribe"
        is_cut = one.f not in ACTING or one.status != "ok" or subscribed.get(one.process, False)
        if is_cut:
            reached = {place: last for place, last in reached.items() if place[0] != one.process}
        anywhere = rebalanced(one) if one.f in ACTING else frozenset()
        for record in () if one.f not in ACTING else polled(one):
            assert record.offset is not None
            last = reached.get((one.process, record.log))
            reached[one.process, record.log] = record.offset
            if last is None or record.log in anywhere:
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


def _own_reads(own: Iterable[Operation]) -> Iterator[Problem]:
    """Yield transactions that poll a value of their own."""
    for one in own:
        written = {(record.log, record.value) for record in sent(one)}
        for record in polled(one) if one.f == "txn" else ():
            if (record.log, record.value) in written:
                value = shortened(record.value)
                yield "precommitted", one, f"the transaction polled {value}, its own send"


def _sends_out_of_order(
    operations: Iterable[Operation], observed: Iterable[Seen]
) -> Iterator[Problem]:
    """Yield sends that stand before an earlier send of the same process, since its assignment."""
    at: dict[tuple[str, str], int] = {}
    for _, record in observed:
        assert record.offset is not None
        at.setdefault((record.log, record.value), record.offset)
    last: dict[tuple[int, str], Record] = {}
    for one in operations:
        if one.f in {"assign", "subscribe"} and one.status == "ok":
            kept = set(map(str, one.input)) if isinstance(one.input, list) else set()
            last = {
                key: each for key, each in last.items() if key[0] != one.process or key[1] in kept
            }
        if one.f not in ACTING or one.status == "fail":
            continue
        mine: dict[str, list[Record]] = defaultdict(list)
        for record in sent(one):
            before = last.get((one.process, record.log))
            mine[record.log] += [record] if mine[record.log] or before is None else [before, record]
            last[one.process, record.log] = record
        if one.status == "info":
            last = {key: each for key, each in last.items() if key[0] != one.process}
        for log, records in mine.items():
            for earlier, later in pairwise(records):
                places = at.get((log, earlier.value)), at.get((log, later.value))
                if None not in places and places[1] < places[0]:  # type: ignore[operator]
                    values = f"{shortened(later.value)} after {shortened(earlier.value)}"
                    where = f"at offset {places[1]}, below {places[0]}"
                    yield "send-order", one, f"the process sent {values} to {log}: it is {where}"


def _unseen(sends: Iterable[Seen], polls: Iterable[Seen]) -> Iterator[Problem]:
    """Yield acknowledged records that no poll returned, after final polls."""
    found = {(record.log, record.value) for _, record in polls}
    for one, record in sends:
        if one.status == "ok" and (record.log, record.value) not in found:
            value = shortened(record.value)
            yield (
                "unseen",
                one,
                f"{value} was acknowledged by {record.log}, and no poll returned it",
            )
