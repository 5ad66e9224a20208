"""Order transactions on registers so that no value is overwritten before its readers: a search.

Kernels for `checkers.engines.transactions.transactions`, which shows that the search is right. It
goes forward, depth first, over sets of finished transactions. The order within a lane is known
(`checkers.engines.kernels.chains`), so a set is given by the number of finished transactions of
each lane, and only the next transaction of each lane can follow. A transaction can follow if all
its predecessors are done and the values that it overwrites have no reader left but itself.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.adjacency import successors
from kraftproof.checkers.engines.kernels.chains import NONE, History, Ints
from kraftproof.checkers.engines.kernels.visited_states import is_known, remember
from kraftproof.checkers.kernels import kernel

ORDERED: Final = 0
IMPOSSIBLE: Final = 1
GIVEN_UP: Final = 2


class Search(NamedTuple):
    """Where a search stands.

    Attributes:
        starts: int64[n + 1], where the targets of each transaction's edges lie in `targets`.
        targets: int64[k].
        turn: int64[n], the smaller the sooner a transaction is tried; no two are equal.
        before: int64[n], how many edges come from what is not done.
        done: int64[lanes], how many are done of each lane.
        lane_starts: int64[lanes + 1], where those of each lane lie in `in_lane`.
        in_lane: int64[n].
        left: int64[sections], how many readers each section has left.
        held: int64[registers], the section that each register is in.
        overwrote: int64[w], the section that each write ended.
        trail: int64[n], what is done, in order.
        passed: int64[1], how many completions are of what is done, without a gap.
        is_done: bool[n].
        rank: int64[n], the place of each among the completions, NEVER otherwise.
    """

    starts: Ints
    targets: Ints
    turn: Ints
    before: Ints
    done: Ints
    lane_starts: Ints
    in_lane: Ints
    left: Ints
    held: Ints
    overwrote: Ints
    trail: Ints
    passed: Ints
    is_done: NDArray[np.bool_]
    rank: Ints


def begin(history: History, edges: Ints, order: Ints) -> Search:
    """Return a search at the beginning.

    Args:
        history: The transactions.
        edges: int64[3, k], precedences that every legal order keeps.
        order: int64[n], all transactions in an order of the edges.
    """
    count = len(history.invoke)
    starts, targets = successors(edges, count)
    rank = np.full(count, count)
    rank[history.done] = np.arange(len(history.done))
    in_lane = np.lexsort((history.place, history.lane))
    return Search(
        starts=starts,
        targets=targets,
        turn=_turns(history, starts, targets, order),
        before=np.bincount(edges[1], minlength=count),
        done=np.zeros(history.lanes, dtype=np.int64),
        lane_starts=np.searchsorted(history.lane[in_lane], np.arange(history.lanes + 1)),
        in_lane=in_lane,
        left=np.diff(history.readers_of),
        held=len(history.writer) + np.arange(history.registers),
        overwrote=np.full(len(history.writer), NONE),
        trail=np.empty(count, dtype=np.int64),
        passed=np.zeros(1, dtype=np.int64),
        is_done=np.zeros(count, dtype=np.bool_),
        rank=rank,
    )


@kernel
def ordered(history: History, search: Search, most: int) -> tuple[int, Ints]:
    """Search for an order in which every transaction found its values.

    Args:
        history: The transactions.
        search: A search at the beginning.
        most: The maximum number of dead ends.

    Returns:
        ORDERED, IMPOSSIBLE or GIVEN_UP; and the order, int64[n], if one was found.
    """
    count, length = len(history.invoke), 0
    dead = np.full((16, history.lanes), NONE)
    known, choices = 0, [(0, 0) for _ in range(0)]  # (what was done before, the turn chosen last)
    after = NONE
    while True:
        if after == NONE:
            length = _do_free(history, search, length)
        if length == count:
            return ORDERED, search.trail
        chosen = NONE
        if after != NONE or not is_known(dead, search.done):
            chosen = _next_choice(history, search, after)
        if chosen != NONE:
            choices.append((length, search.turn[chosen]))
            length = _do(history, search, length, chosen)
            after = NONE
            continue
        if known == most:
            return GIVEN_UP, search.trail
        dead, known = remember(dead, known, search.done)
        if len(choices) == 0:
            return IMPOSSIBLE, search.trail
        back, after = choices.pop()
        while length > back:
            length = _undo(history, search, length)


@kernel
def _turns(history: History, starts: Ints, targets: Ints, order: Ints) -> Ints:
    """Return a priority for each transaction, by which valid histories can mostly be ordered.

    The priority follows zones (`checkers.engines.register.zones`): the first completion of a
    successor by edges, or the last invocation of a reader, whichever is earlier.
    """
    first, last = history.complete.copy(), history.invoke.copy()
    for back in range(len(order) - 1, -1, -1):
        one = order[back]
        for target in targets[starts[one] : starts[one + 1]]:
            first[one] = min(first[one], first[target])
    for write in range(len(history.writer)):
        for reader in history.readers[history.readers_of[write] : history.readers_of[write + 1]]:
            writer = history.writer[write]
            last[writer] = max(last[writer], history.invoke[reader])
    return np.minimum(first, last) * len(first) + np.arange(len(first))


@kernel
def _next_choice(history: History, search: Search, after: int) -> int:
    """Return what can follow and has the next turn after one, NONE if nothing does."""
    found = NONE
    for lane in range(history.lanes):
        one = _next_of(search, lane)
        if one != NONE and search.turn[one] > after:
            is_sooner = found == NONE or search.turn[one] < search.turn[found]
            if is_sooner and _can_follow(history, search, one):
                found = one
    return found


@kernel
def _next_of(search: Search, lane: int) -> int:
    place = search.lane_starts[lane] + search.done[lane]
    return int(search.in_lane[place]) if place < search.lane_starts[lane + 1] else NONE


@kernel
def _can_follow(history: History, search: Search, one: int) -> bool:
    if search.before[one] > 0 or history.passed[one] > search.passed[0]:
        return False
    for write in range(history.leaves[one], history.leaves[one + 1]):
        held = search.held[history.left_in[write]]
        own = 0
        for found in history.found[history.finds[one] : history.finds[one + 1]]:
            own += found == held
        if search.left[held] > own:
            return False
    return True


@kernel
def _do_free(history: History, search: Search, length: int) -> int:
    """Do all that can follow and whose values nobody finds; return how many are done then."""
    is_more = True
    while is_more:
        is_more = False
        for lane in range(history.lanes):
            one = _next_of(search, lane)
            while one != NONE and _is_unseen(history, search, one):
                if not _can_follow(history, search, one):
                    break
                length = _do(history, search, length, one)
                is_more = True
                one = _next_of(search, lane)
    return length


@kernel
def _is_unseen(history: History, search: Search, one: int) -> bool:
    for write in range(history.leaves[one], history.leaves[one + 1]):
        if search.left[write] > 0:
            return False
    return True


@kernel
def _do(history: History, search: Search, length: int, one: int) -> int:
    """Do a transaction; return how many are done then."""
    for found in history.found[history.finds[one] : history.finds[one + 1]]:
        search.left[found] -= 1
    for write in range(history.leaves[one], history.leaves[one + 1]):
        search.overwrote[write] = search.held[history.left_in[write]]
        search.held[history.left_in[write]] = write
    for target in search.targets[search.starts[one] : search.starts[one + 1]]:
        search.before[target] -= 1
    search.done[history.lane[one]] += 1
    search.is_done[one] = True
    while search.passed[0] < len(history.done) and search.is_done[history.done[search.passed[0]]]:
        search.passed[0] += 1
    search.trail[length] = one
    return length + 1


@kernel
def _undo(history: History, search: Search, length: int) -> int:
    """Take back the last transaction done; return how many are done then."""
    one = search.trail[length - 1]
    for found in history.found[history.finds[one] : history.finds[one + 1]]:
        search.left[found] += 1
    for write in range(history.leaves[one], history.leaves[one + 1]):
        search.held[history.left_in[write]] = search.overwrote[write]
    for target in search.targets[search.starts[one] : search.starts[one + 1]]:
        search.before[target] += 1
    search.done[history.lane[one]] -= 1
    search.is_done[one] = False
    search.passed[0] = min(search.passed[0], search.rank[one])
    return length - 1
