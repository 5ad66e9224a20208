"""The order of the updates that the beam search found, read off its log.

For `checkers.engines.repeated.beam_search.beam_search`, which defines done and used calls. A call
that is done and unused has its place just before the update that hides it, or where its effect
makes no difference. Calls without an effect are left out: they fit in wherever they are legal.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from kraftproof.checkers.engines.repeated.beam_search.checkpoints import Place
from kraftproof.checkers.engines.repeated.layout import NONE, Ints, Layout


class _Use(NamedTuple):
    """An update that was used, at which position, and what was done by then, as in a log."""

    call: int
    at: int
    earlier: int
    along: int
    later: int


def order_of(layout: Layout, places: Sequence[Place]) -> Ints:
    """Return the updates up to the last place in the order that was found, by number.

    Args:
        layout: the calls.
        places: where the search stood from the beginning to the end.
    """
    uses = list(_of_the_indeterminate(layout, _uses(places)))
    by_position = {at: list(some) for at, some in groupby(uses, key=attrgetter("at"))}
    used = {use.call for use in uses}
    waiting: list[int] = []
    order: list[int] = []
    invoked = 0
    for position in range(places[-1].position):
        returning = int(layout.returning[position])
        while invoked < len(layout.invoke) and layout.invoke[invoked] < layout.complete[returning]:
            if layout.updates[invoked] and layout.slot[invoked] != NONE and invoked not in used:
                waiting.append(invoked)
            invoked += 1
        for use in by_position.get(position, ()):
            earlier, hidden, later = (
                [call for call in waiting if mask >> int(layout.slot[call]) & 1]
                for mask in (use.earlier, use.along & ~use.earlier, use.later & ~use.along)
            )
            order += [*earlier, *hidden, use.call, *later]
            done = {*earlier, *hidden, *later}
            waiting = [call for call in waiting if call not in done]
        if returning in waiting:
            order.append(returning)
            waiting.remove(returning)
    return np.asarray(order, dtype=np.int64)


def _uses(places: Sequence[Place]) -> list[_Use]:
    """Return the updates that were used on the way to the first configuration at the end."""
    found: list[_Use] = []
    row = 0
    for _, place in reversed(list(pairwise(places))):
        node = int(place.nodes[row])
        while node >= 0:
            before, *rest = place.log[node].tolist()
            found.append(_Use(*rest))
            node = before
        row = -1 - node
    return found[::-1]


def _of_the_indeterminate(layout: Layout, uses: Sequence[_Use]) -> Iterator[_Use]:
    """Yield the uses with the indeterminate calls themselves, the first of a kind first."""
    of_kind = [
        np.flatnonzero(layout.indeterminate_of == kind) for kind in range(len(layout.indeterminate))
    ]
    count: Counter[int] = Counter()
    for use in uses:
        kind = int(layout.indeterminate_of[use.call])
        if kind == NONE:
            yield use
        else:
            call = int(of_kind[kind][count[kind]])
            count[kind] += 1
            yield use._replace(call=call)
