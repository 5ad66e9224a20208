"""Lists that are appended to and read whole, alone or in transactions: strict serializability.

Where every element is appended once, a read says which appends came before it and in what order
(Kingsbury and Alvaro, "Elle: inferring isolation anomalies from experimental observations", 2020).
The longest read of a list fixes its order; every other has to be a prefix of it. What was appended
and never read comes after. Between transactions that gives

- ww: the append of an element goes before that of the next;
- wr: the append of the last element that a read saw goes before the read;
- rw: a read goes before the append of the first element that it did not see;
- rt: what completed before another was invoked goes before it.

A legal order exists if and only if the graph of all these has no cycle: any order that respects it
appends and reads as was seen. So here nothing is missed and nothing is alarm for nothing; without
transactions this is linearizability of each list. It takes O(n + elements seen) a decision, each
edge once, since real time needs no more than a chain of completions; memory is of that order.

What is open or indeterminate took effect if a read that counts saw it, with all that it appended
and, if it was answered later, all that it read. Otherwise it is left out, which takes away
constraints only. The first stuck completion is found by bisection
(`checkers.engines.kernels.bisection`).

Where elements are appended again, see `checkers.engines.lists.repeated`; transactions of these are
left to the general engine.

The anomaly is named as Elle does: aborted read (G1a), dirty update, intermediate read (G1b),
internal, future read, incompatible order, duplicate elements; and by the edges that a cycle needs:
G0 (ww), G1c (and wr), G-single (and one rw; a lost update is one), G-nonadjacent and G2-item (and
more), each with `-realtime` if it needs rt. In a history without transactions a stale read or a
lost append is G-single-realtime.
"""

from typing import Final

from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.engines.kernels.bisection import first_stuck, outcome_of, spans
from kraftproof.checkers.engines.lists.anomalies import anomaly_of
from kraftproof.checkers.engines.lists.graph import Lists, verdict_of_prefix
from kraftproof.checkers.engines.lists.repeated import decide_repeated
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits

ENGINE: Final = "list-append"


def decide(calls: ListCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each key, None for one left to the general engine."""
    del limits  # near-linear: nothing to bound
    return [_decide_key(calls, key, *span) for key, span in enumerate(spans(calls))]


def _decide_key(calls: ListCalls, key: int, start: int, end: int) -> Outcome | None:
    if calls.is_repeated[key]:
        return decide_repeated(calls, start, end, ENGINE)
    lists = Lists.of(calls, start, end)

    def is_legal(_start: int, _end: int, cut: int) -> bool:
        return verdict_of_prefix(lists, cut).is_legal

    stuck = first_stuck(calls, start, end, is_legal)
    if stuck is None:
        return outcome_of(calls, start, end, None, ENGINE)
    anomaly = anomaly_of(lists, int(calls.complete[stuck]))
    return outcome_of(calls, start, end, stuck, ENGINE, anomaly)
