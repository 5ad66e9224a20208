"""Transactions on registers whose values are unique, so that the writer of each value is known.

Each value found gives an edge from its writer to its reader. Two rules give further edges until
nothing changes. Let W write a value of register x, let R find it, and let V be another transaction
that writes x. V is not between W and R, so

- if V precedes R, V precedes W;
- if W precedes V, R precedes V.

(After Papadimitriou, "The serializability of concurrent database updates", 1979, who shows that the
question is NP-complete, and the constraints of Biswas and Enea, "On the complexity of checking
transactional consistency", 2019.) Real time adds an edge from each completed transaction to every
transaction invoked later. A cycle shows that no legal order exists; cycles find every violation
within a single register, as zones do, and most others.

Where the rules leave a choice, `checkers.engines.transactions.version_intervals` searches forward,
depth first. A value blocks other writes until all its readers are done; the content of a register
therefore matters only while a reader is left, and then it can't have been overwritten. Hence the
set of finished transactions determines the state, and sets without a continuation are remembered. A
transaction whose values nobody finds is done as early as possible, which leads to the same state. A
search that ends without an order proves that no order exists; a search with too many dead ends
leaves the key to the general engine. An order that is found is replayed.

An open or indeterminate transaction counts if a counted transaction found its value; it then found
the values that it returned later. Otherwise it is left out, which only removes constraints. A cycle
suggests the first illegal completion, and the prefixes on either side of it are decided; if the
suggestion is wrong, bisection continues (`checkers.engines.kernels.bisection`). Time is O(n c log
n) for each decision and each round of the rules; memory is O(n c), eight bytes each, c being the
open transactions at a time.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.transactions import INITIAL, NOBODY, TransactionCalls
from kraftproof.checkers.engines.kernels.bisection import Guided, outcome_of, spans
from kraftproof.checkers.engines.kernels.chains import History, Ints, chains_of
from kraftproof.checkers.engines.repeated.beam_search.beam_search import (
    ordered as ordered_by_search,
)
from kraftproof.checkers.engines.transactions.beam_facts import facts_of
from kraftproof.checkers.engines.transactions.precedence import close, shown_at
from kraftproof.checkers.engines.transactions.single_registers import decide_registers
from kraftproof.checkers.engines.transactions.version_intervals import (
    GIVEN_UP,
    ORDERED,
    begin,
    ordered,
)
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

ENGINE: Final = "transactions"

_STEPS: Final = ((1, 5_000), (2, 20_000), (100, NEVER))
"""The rounds of the rules before each search, and the dead ends that the search may meet; after
more, it starts again with the edges of the next rounds."""
_CLOCK_BYTES: Final = 8
"""What a transaction costs for each lane, its completion included."""
_DEAD_END_BYTES: Final = 32
"""What a dead end costs for each lane, with capacity to spare in the table."""
_DEAD_ENDS_A_SECOND: Final = 10_000
"""So many are met at least; the cost of a key is counted, not timed."""


class _UndecidedError(Exception):
    """A decision takes more than a key may cost."""


def decide(calls: TransactionCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each key, None for one left to the general engine."""
    return [_decide_key(calls, key, *span, limits) for key, span in enumerate(spans(calls))]


def _decide_key(
    calls: TransactionCalls, key: int, start: int, end: int, limits: Limits
) -> Outcome | None:
    if calls.is_ambiguous[key]:
        return decide_registers(calls, start, end, facts_of(calls, start, end), limits)
    prefixes = _Prefixes(_transactions(calls, start, end), limits)
    try:
        first_illegal = Guided(
            complete=calls.complete[start:end], decide=prefixes.decide
        ).find_first_illegal()
    except _UndecidedError:
        return None
    return outcome_of(
        calls, start, end, None if first_illegal is None else start + first_illegal, ENGINE
    )


def order_of(calls: TransactionCalls, cut: int, limits: Limits) -> Ints | None:
    """Return the calls of the only key up to an event in a legal order; None if none is known."""
    if calls.is_ambiguous[0]:
        return ordered_by_search(facts_of(calls, 0, len(calls)), cut, limits)
    try:
        return _Prefixes(_transactions(calls, 0, len(calls)), limits).ordered(cut)[0]
    except _UndecidedError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transactions:
    """The calls of a key: n calls, r values found and w left, numbered from 0.

    Attributes:
        invoke: int64[n], ascending.
        complete: int64[n].
        finds: int64[r], the call that found each value.
        found_in: int64[r], its register.
        source: int64[r], the write that left it, or INITIAL or NOBODY.
        leaves: int64[w], the call of each write.
        left_in: int64[w], its register.
        is_absurd: bool[n], whether a call found what can't be.
    """

    invoke: Ints
    complete: Ints
    finds: Ints
    found_in: Ints
    source: Ints
    leaves: Ints
    left_in: Ints
    is_absurd: NDArray[np.bool_]


def _transactions(calls: TransactionCalls, start: int, end: int) -> _Transactions:
    finds, leaves = calls.finds[start : end + 1], calls.leaves[start : end + 1]
    found, left = slice(finds[0], finds[-1]), slice(leaves[0], leaves[-1])
    numbers = np.arange(end - start)
    finds, source = np.repeat(numbers, np.diff(finds)), calls.source[found]
    is_absurd = calls.is_absurd[start:end].copy()
    is_absurd[finds[source == NOBODY]] = True
    return _Transactions(
        invoke=calls.invoke[start:end],
        complete=calls.complete[start:end],
        finds=finds,
        found_in=calls.found_in[found],
        source=source,
        leaves=np.repeat(numbers, np.diff(leaves)),
        left_in=calls.left_in[left],
        is_absurd=is_absurd,
    )


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Decides prefixes of a key.

    Attributes:
        transactions: of the key.
        limits: the key's limits.
    """

    transactions: "_Transactions"
    limits: Limits

    def decide(self, cut: int) -> tuple[bool, int]:
        """Return whether a prefix is legal, and if not, by when one perhaps already is not."""
        order, shown = self.ordered(cut)
        return order is not None, shown

    def ordered(self, cut: int) -> tuple[Ints | None, int]:
        """Return a legal order of a prefix, or the event by which probably none exists.

        Raises:
            _UndecidedError: The decision exceeds the key's limits.
        """
        happened, over = _happened_by(self.transactions, cut)
        is_bad = happened & (self.transactions.is_absurd | (self.transactions.invoke > cut))
        if is_bad.any():
            return None, int(over[is_bad].min())
        most = self.limits.memory_bytes // (_CLOCK_BYTES * (len(over) + 1))
        lanes = chains_of(self.transactions.invoke[happened], over[happened], most)
        if lanes[2] > most:
            raise _UndecidedError
        order, shown = self._search(_history(self.transactions, happened, over, lanes, cut))
        return None if order is None else np.flatnonzero(happened)[order], shown

    def _search(self, history: History) -> tuple[Ints | None, int]:
        capacity = self.limits.memory_bytes // (_DEAD_END_BYTES * (history.lanes + 1))
        capacity = min(capacity, int(self.limits.seconds * _DEAD_ENDS_A_SECOND))
        edges = _read_edges(history)
        for rounds, most in _STEPS:
            edges, order, is_possible = close(history, edges, rounds)
            if not is_possible:
                return None, shown_at(history, edges, order)
            ended, order = ordered(history, begin(history, edges, order), min(capacity, most))
            if ended == ORDERED:
                assert _is_replayed(history, order), "an order that was found is legal"
                return order, NEVER
            if ended != GIVEN_UP:
                return None, NEVER
        raise _UndecidedError


def _happened_by(transactions: _Transactions, cut: int) -> tuple[NDArray[np.bool_], Ints]:
    """Return the calls that took effect up to a cut, and when each surely had.

    The time is the completion of the call, or of a call that found its value: int64[n], NEVER for
    calls without effect.
    """
    t = transactions
    over = np.where(t.complete <= cut, t.complete, NEVER)
    is_written = t.source >= 0
    writers, readers = t.leaves[t.source[is_written]], t.finds[is_written]
    while True:
        earlier = over.copy()
        np.minimum.at(over, writers, over[readers])
        if (over == earlier).all():
            break
    return over != NEVER, over


def _history(
    transactions: _Transactions,
    happened: NDArray[np.bool_],
    over: Ints,
    lanes: tuple[Ints, Ints, int],
    cut: int,
) -> History:
    """Return the calls that took effect, numbered anew and laid in lanes."""
    t, number = transactions, np.cumsum(happened) - 1
    invoke, complete = t.invoke[happened], t.complete[happened]
    complete = np.where(complete <= cut, complete, NEVER)
    done = np.argsort(complete, kind="stable")[: np.count_nonzero(complete != NEVER)]
    lane, place, width = lanes
    is_left, is_found = happened[t.leaves], happened[t.finds]
    writer, left_in = number[t.leaves[is_left]], t.left_in[is_left]
    registers = int(max(t.left_in.max(initial=-1), t.found_in.max(initial=-1))) + 1
    source, found_in = t.source[is_found], t.found_in[is_found]
    write = np.append(np.cumsum(is_left) - 1, [0, 0])[source]  # INITIAL is -2
    found = np.where(source == INITIAL, len(writer) + found_in, write)
    reader = number[t.finds[is_found]]
    by_section = np.argsort(found, kind="stable")
    by_lane = np.lexsort((writer, lane[writer], left_in))
    lane_of_write = left_in * width + lane[writer]
    count = len(invoke)
    return History(
        invoke=invoke,
        complete=complete,
        over=over[happened],
        lane=lane,
        place=place,
        passed=np.searchsorted(complete[done], invoke).astype(np.int64),
        done=done,
        finds=_starts(reader, count),
        found=found,
        leaves=_starts(writer, count),
        left_in=left_in,
        writer=writer,
        readers_of=_starts(found[by_section], len(writer) + registers),
        readers=reader[by_section],
        lanes=width,
        registers=registers,
        in_lane=_starts(lane_of_write[by_lane], registers * width),
        by_lane=by_lane,
    )


def _starts(owners: Ints, count: int) -> Ints:
    """Return where what each of so many owners has begins, given owners in ascending order."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)


def _read_edges(history: History) -> Ints:
    """Return edges from writers to readers, and the readers, which show them: int64[3, k]."""
    lengths = np.diff(history.readers_of)
    sections = np.repeat(np.arange(len(lengths)), lengths)
    is_written = sections < len(history.writer)
    readers = history.readers[is_written]
    return np.stack((history.writer[sections[is_written]], readers, readers))


def _is_replayed(history: History, order: Ints) -> bool:
    """Return whether an order keeps real time and every call found its values."""
    latest = np.maximum.accumulate(history.invoke[order]) if len(order) else order
    if (history.complete[order] < latest).any():
        return False
    held = (len(history.writer) + np.arange(history.registers)).tolist()
    finds, found, leaves = history.finds.tolist(), history.found.tolist(), history.leaves.tolist()
    registers = np.append(history.left_in, np.arange(history.registers)).tolist()
    for one in order.tolist():
        for section in found[finds[one] : finds[one + 1]]:
            if held[registers[section]] != section:
                return False
        for write in range(leaves[one], leaves[one + 1]):
            held[registers[write]] = write
    return len(set(order.tolist())) == len(history.invoke)
