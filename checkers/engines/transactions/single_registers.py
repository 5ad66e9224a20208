"""Several registers of a key: refute each register alone before all together.

An order of all calls is also an order of the values found and left in a single register. A key is
therefore illegal by the event at which one register alone has no order. A single register is
decided within a second at fifty open calls, where all registers together are hopeless, because few
of its calls depend on each other. Orders of each register prove nothing about the key.
"""

from dataclasses import replace
from typing import Final

import msgspec

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.engines.repeated.beam_search.beam_search import decide_repeated
from kraftproof.checkers.engines.repeated.layout import Facts
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_FIRST_SHARE: Final = 0.125
"""Of a key's limits, before each register is looked at alone, which may cost as much."""


def decide_registers(
    calls: Calls, start: int, end: int, facts: Facts, limits: Limits
) -> Outcome | None:
    """Return the outcome of a key, None if too many calls are open at a time.

    Args:
        calls: all calls.
        start: the key's first call.
        end: the next key's first call.
        facts: what the key's calls found and left.
        limits: the key's limits.
    """
    registers = facts.find.shape[1]
    if registers == 1:
        return decide_repeated(calls, start, end, facts, limits)
    soon = msgspec.structs.replace(limits, seconds=limits.seconds * _FIRST_SHARE)
    outcome = decide_repeated(calls, start, end, facts, soon)
    if outcome is not None and outcome.verdict is not Verdict.UNKNOWN and _is_exact(outcome):
        return outcome
    alone = (
        decide_repeated(calls, start, end, _of_register(facts, register), soon)
        for register in range(registers)
    )
    observed = [one for one in (outcome, *alone) if one is not None]
    rows = [one.first_illegal_row for one in observed if one.first_illegal_row is not None]
    ends = calls.complete[start:end]
    illegal = min((int(ends[calls.rows[start:end] == row][0]) for row in rows), default=NEVER)
    return decide_repeated(calls, start, end, facts, limits, illegal)


def _is_exact(outcome: Outcome) -> bool:
    """Return whether the first call that is stuck is known, if one is."""
    return outcome.first_illegal_row is None or outcome.linearizable is not None


def _of_register(facts: Facts, register: int) -> Facts:
    """Return what the calls found and left in one register."""
    some = slice(register, register + 1)
    return replace(
        facts,
        find=facts.find[:, some],
        leave=facts.leave[:, some],
        values=replace(facts.values, initial=facts.values.initial[some]),
    )
