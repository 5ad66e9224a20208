"""Lists under append and whole reads, alone or in transactions: strict serializability.

If every element is appended once, a read tells the appends before it and their order (Kingsbury and
Alvaro, "Elle: inferring isolation anomalies from experimental observations", 2020). The longest
read of a list fixes its order; every other read must be a prefix. Unread appends come after it.
Between transactions this gives

- ww: the append of an element precedes the append of the next;
- wr: the append of the last element of a read precedes the read;
- rw: a read precedes the append of the first element that it lacks;
- rt: a completed transaction precedes every transaction invoked later.

A legal order exists if and only if the graph of these edges has no cycle: any order along the edges
appends and reads as observed. So the engine misses nothing and raises no false alarm; without
transactions this is linearizability of each list. A decision takes O(n + elements read), each edge
once, since real time needs only a chain of completions; memory is of the same order.

An open or indeterminate transaction took effect if a counted read saw it, with all its appends, and
with all its reads if it was answered later. Otherwise it is left out, which only removes
constraints. Bisection finds the first illegal completion (`checkers.engines.kernels.bisection`).

See `checkers.engines.lists.repeated` for repeated elements; transactions of repeated elements go to
the general engine.

Anomalies are named as in Elle: aborted read (G1a), dirty update, intermediate read (G1b), internal,
future read, incompatible order, duplicate elements; and cycles by their edges: G0 (ww), G1c (and
wr), G-single (and one rw; a lost update is one), G-nonadjacent and G2-item (several rw), each with
`-realtime` if it needs rt. In a history without transactions, a stale read or a lost append is
G-single-realtime.
"""

from typing import Final

from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of, spans
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

    first_illegal = find_first_illegal(calls, start, end, is_legal)
    if first_illegal is None:
        return outcome_of(calls, start, end, None, ENGINE)
    anomaly = anomaly_of(lists, int(calls.complete[first_illegal]))
    return outcome_of(calls, start, end, first_illegal, ENGINE, anomaly)
