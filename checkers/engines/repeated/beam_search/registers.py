"""Registers with repeated values, laid out for the beam search, which finds a legal order.

Other engines give the verdicts (`checkers.engines.register.registers`) and keep no order.
"""

import numpy as np
from msgspec.structs import replace

from kraftproof.checkers.calls.register import RegisterCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.repeated.beam_search.beam_search import ordered
from kraftproof.checkers.engines.repeated.layout import NONE, NOTHING, Facts, Ints, Narrow, Values
from kraftproof.checkers.options import Limits


def order_of(calls: RegisterCalls, cut: int, limits: Limits) -> Ints | None:
    """Return the updates of the only key up to an event in a legal order; None if unknown."""
    facts, half = _facts_of(calls), replace(limits, seconds=limits.seconds / 2)
    quick = ordered(facts, cut, half, are_indeterminate_finders=False)
    return ordered(facts, cut, half) if quick is None else quick


def _facts_of(calls: RegisterCalls) -> Facts:
    wanted = np.unique(calls.expected[calls.expected != NO_VALUE])
    return Facts(
        invoke=calls.invoke,
        complete=calls.complete,
        find=_numbered(wanted, calls.expected)[:, None],
        leave=_numbered(wanted, calls.new)[:, None],
        piece=np.full(len(calls), NONE, dtype=np.int32),
        values=Values(
            initial=_numbered(wanted, np.asarray([calls.initial])).astype(np.int64),
            last=np.arange(len(wanted)),
            edge_starts=np.zeros(len(wanted) + 1, dtype=np.int64),
            edge_piece=np.empty(0, dtype=np.int64),
            edge_to=np.empty(0, dtype=np.int64),
        ),
    )


def _numbered(wanted: Narrow, values: Narrow) -> Narrow:
    """Return the numbers of values among the found values, NOTHING for unread values, and NONE."""
    place = np.searchsorted(wanted, values)
    is_wanted = np.append(wanted, NO_VALUE)[place] == values
    found = np.where(is_wanted, place, NOTHING)
    return np.where(values == NO_VALUE, NONE, found).astype(np.int32)
