"""Quotas of clients: a client's bytes stay within its rate, and others never wait (KIP-13).

A key is a client id. Its quotas are set once, before its first request. A client confirms that its
broker knows the quotas; from then on its connection is judged by itself. The broker measures over
windows, so a connection may use up the budget of all windows at once, and a tenth more later.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.checkers.findings import finding_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.models.administration.single_writer import read_as
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Finding

RATE: Final = "quotas/rate"
FREE: Final = "quotas/free"
MUTED: Final = "quotas/muted"
NEEDLESS: Final = "quotas/needless"
KNOWN: Final = "quotas/known"
WINDOWS: Final = 11
"""Number of windows of a second over which a broker measures."""
LONGER: Final = 1.15
"""The rate over a long time, as a multiple of the quota: a window is forgotten as a whole."""
PATIENCE: Final = 0.8
"""The share of the throttle time after which the next answer may come, for clocks that run fast."""
NS_PER_MS: Final = 1_000_000
NS_PER_S: Final = 1_000_000_000
REMEMBERED_NS: Final = 16 * NS_PER_S
"""Longest time for which a broker remembers bytes, with a margin for answers that come late."""
LEAST: Final = 0.9 * (WINDOWS - 1)
"""The seconds of its rate that a client must have used up before it waits, less a margin."""
OVERHEAD: Final = 100
"""Upper bound of the bytes of a batch besides its record."""
MOVES: Final = {"send": "producer_byte_rate", "read": "consumer_byte_rate"}
ORDER: Final = ("user+client", "user", "client")
"""The entities of a key from the most specific on."""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """A quota of the client: the entity, the key of the quota, and bytes a second."""

    entity: str
    quota: str
    rate: int


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `set`: all quotas of the client."""

    quotas: list[Quota]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `send` and `read`: the bytes of the record, or the most bytes to read."""

    size: int


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `send` and `read`: the bytes of the records, and the time to wait."""

    bytes: int
    throttle_ms: int


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `confirm`: the quotas that the broker knows, as in `set`."""

    quotas: list[Quota]


class Quotas(PropertyModel):
    """The quotas of client ids."""

    name = "quotas"
    no_initial_value = "a client begins without a quota: record the set in the history"
    functions = frozenset({"create", "set", "confirm", *MOVES})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "set":
            read_as("set takes", operation.input, Settings)
        elif operation.f in MOVES:
            read_as(f"{operation.f} takes", operation.input, Wanted)
            if operation.status == "ok":
                read_as(f"{operation.f} answers", operation.output, Moved)
        elif operation.f == "confirm" and operation.status == "ok":
            read_as("confirm answers", operation.output, Confirmed)

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        del options
        settings = [
            quota
            for one in operations
            if one.f == "set" and one.status != "fail"
            for quota in msgspec.convert(one.input, Settings).quotas
        ]
        by_process: dict[object, list[Operation]] = defaultdict(list)
        for one in operations:
            by_process[one.process].append(one)
        found = _needless(key, operations, settings)
        for own in by_process.values():
            found += _muted(key, [one for one in own if one.f in MOVES])
            for f, quota in MOVES.items():
                rate = _rate(settings, quota)
                moves = [one for one in own if one.f == f and one.status == "ok"]
                found += _free(key, moves) if rate is None else _within(key, own, moves, rate)
        return found + _known(key, operations, settings)


def _rate(settings: Sequence[Quota], quota: str) -> int | None:
    """Return the rate of the most specific entity; None without a limit."""
    rates = {one.entity: one.rate for one in settings if one.quota == quota}
    return next((rates[entity] for entity in ORDER if entity in rates), None)


def _free(key: str, moves: Sequence[Operation]) -> list[Finding]:
    """Return a finding for a client without a quota that must wait."""
    return [
        _finding(FREE, key, one, f"must wait {_moved(one).throttle_ms} ms without a quota")
        for one in moves
        if _moved(one).throttle_ms > 0
    ][:1]


def _within(
    key: str, own: Sequence[Operation], moves: Sequence[Operation], rate: int
) -> list[Finding]:
    """Return a finding for a connection that moves more bytes than its quota allows."""
    since = next((one.complete_time for one in own if _shown(one)), None)
    total = 0
    for one in moves:
        if since is None or (one.invoke_time or 0) < since:
            continue
        seconds = ((one.complete_time or 0) - since) / NS_PER_S
        allowed = LONGER * rate * (seconds + WINDOWS)
        if total > allowed:
            return [_finding(RATE, key, one, f"moved {total} bytes, {allowed:.0f} are allowed")]
        total += _moved(one).bytes
    return []


def _needless(
    key: str, operations: Sequence[Operation], settings: Sequence[Quota]
) -> list[Finding]:
    """Return a finding for a client that must wait before it has used up its own budget."""
    for f, quota in MOVES.items():
        rate = _rate(settings, quota)
        moves = [one for one in operations if one.f == f and rate is not None]
        for one in moves:
            if one.status != "ok" or _moved(one).throttle_ms == 0:
                continue
            begin, end = (one.invoke_time or 0) - REMEMBERED_NS, one.complete_time or 0
            asked = [each for each in moves if begin <= (each.complete_time or end)]
            used = sum(_size(each) + OVERHEAD for each in asked if (each.invoke_time or 0) < end)
            if used < LEAST * (rate or 0):
                return [_finding(NEEDLESS, key, one, f"must wait after {used} bytes of {rate}/s")]
    return []


def _muted(key: str, own: Sequence[Operation]) -> list[Finding]:
    """Return a finding for an answer that came while the connection was muted."""
    until, before = 0.0, None
    for one in own:
        if one.status != "ok" or one.complete_time is None:
            before = None
            continue
        if before is not None and one.complete_time < until:
            reason = f"was answered {until - one.complete_time:.0f} ns too early"
            return [_finding(MUTED, key, one, reason)]
        throttle_ms = _moved(one).throttle_ms
        answered = max(float(one.invoke_time or 0), until if before is not None else 0.0)
        until = answered + PATIENCE * throttle_ms * NS_PER_MS
        before = one
    return []


def _known(key: str, operations: Sequence[Operation], settings: Sequence[Quota]) -> list[Finding]:
    """Return a finding for a broker that describes other quotas than were set."""
    for one in operations:
        shown = _shown(one)
        if shown and shown != set(settings):
            return [_finding(KNOWN, key, one, "is described with other quotas")]
    return []


def _shown(operation: Operation) -> set[Quota]:
    """Return the quotas that a broker confirms; none for another operation."""
    if operation.f != "confirm" or operation.status != "ok":
        return set()
    return set(msgspec.convert(operation.output, Confirmed).quotas)


def _size(operation: Operation) -> int:
    return msgspec.convert(operation.input, Wanted).size


def _moved(operation: Operation) -> Moved:
    return msgspec.convert(operation.output, Moved)


def _finding(check: str, key: str, operation: Operation, reason: str) -> Finding:
    fact = f"client {key} of broker {operation.node} {reason}"
    return finding_of(check, key, operation, fact, reason)
