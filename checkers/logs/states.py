"""Judges the state of a partition as brokers report: leaders, moves and the in-sync replicas.

- log/leaderless: a partition had no leader for longer than the workload declares, though its ISR
  had two members or more. The last member of an ISR may be down as long as its broker is.
- log/settled: after all faults, the partition has no leader, lacks a replica in the ISR or is
  still being moved, at the end of the time that the workload gives.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from kraftproof.checkers.findings import finding_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding

LEADERLESS: Final = "log/leaderless"
SETTLED: Final = "log/settled"
FUNCTIONS: Final = frozenset({"move", "cancel", "elect", "state"})
"""Functions about the replicas of a partition; only `state` has a rule."""
NO_LEADER: Final = -1
FEWEST: Final = 2


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `state`: the declared time without a leader, and whether it is the last look."""

    limit_ms: int
    is_last: bool = False


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `state`."""

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    is_moving: bool = False


def require_state(operation: Operation) -> None:
    """Raise ValueError, naming the field, if a `state` has another form."""
    if operation.f != "state":
        return
    try:
        msgspec.convert(operation.input, Asked)
        if operation.status == "ok":
            msgspec.convert(operation.output, State)
    except msgspec.ValidationError as error:
        values = f"{as_json(operation.input)} and {as_json(operation.output)}"
        raise ValueError(f"field value: a state has another form than {values}: {error}") from None


def state_findings(key: str, operations: Iterable[Operation]) -> list[Finding]:
    """Return the findings about the states of one partition, in the order of the answers."""
    found: list[Finding] = []
    since: Operation | None = None
    is_reported = False
    for operation in operations:
        if operation.f != "state" or operation.status != "ok":
            continue
        asked = msgspec.convert(operation.input, Asked)
        state = msgspec.convert(operation.output, State)
        if state.leader != NO_LEADER or len(state.isr) < FEWEST:
            since, is_reported = None, False
        elif since is None:
            since = operation
        waited_ns = 0 if since is None else _time(operation.invoke_time, since.complete_time)
        if since is not None and waited_ns > asked.limit_ms * 1_000_000 and not is_reported:
            is_reported = True
            fact = f"{key} has no leader for {waited_ns / 1e9:.1f} s, its ISR is {list(state.isr)}"
            reason = f"the declared time is {asked.limit_ms / 1e3:g} s"
            found.append(finding_of(LEADERLESS, key, operation, fact, reason))
        if asked.is_last and not _is_settled(state):
            moving = ", a move is under way" if state.is_moving else ""
            fact = f"at the end {key} has leader {state.leader}, ISR {list(state.isr)}{moving}"
            reason = f"after the faults its replicas {list(state.replicas)} are in sync"
            found.append(finding_of(SETTLED, key, operation, fact, reason))
    return found


def _is_settled(state: State) -> bool:
    is_whole = set(state.isr) == set(state.replicas)
    return state.leader != NO_LEADER and is_whole and not state.is_moving


def _time(later: int | None, earlier: int | None) -> int:
    return 0 if later is None or earlier is None else later - earlier
