"""The conclusions from reads of lists: transactions that took effect, and the order of each list.

Kernels for `checkers.engines.lists.list_append`; the arrays are those of `list_graph.Lists`. A
problem is returned as its number and the call in which it is visible.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.lists.elements import ABORTED
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel, plain_version_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LEGAL: Final = 0
ABORTED_READ: Final = 1
PHANTOM: Final = 2
INTERNAL: Final = 3
DUPLICATE: Final = 4
INCOMPATIBLE: Final = 5
CYCLE: Final = 6


def from_first(elements: Ints, first: int) -> Ints:
    """Return elements as actions that count from one on; UNKNOWN and ABORTED stay."""
    return elements - np.where(elements >= 0, first, 0)


@kernel
def earlier_actions(actions: Ints, list_number: Ints) -> Ints:
    """Return of each action the one before of the same call on the same list, -1 if none."""
    count = list_number.max() + 1 if len(list_number) else 0
    latest, of_call = np.full(count, -1), np.full(count, -1)
    earlier = np.full(len(list_number), -1)
    for call in range(len(actions) - 1):
        for action in range(actions[call], actions[call + 1]):
            place = list_number[action]
            if of_call[place] == call:
                earlier[action] = latest[place]
            of_call[place], latest[place] = call, action
    return earlier


@kernel
def happened_by(
    invoke: Ints, complete: Ints, actions: Ints, call_of: Ints, seen: Ints, elements: Ints, cut: int
) -> tuple[Bools, int, int]:
    """Return the calls that took effect up to a cut; the problem, and its call.

    They are the completed calls, the calls whose appends a counted call saw, and so on.
    """
    happened = complete <= min(cut, NEVER - 1)
    waiting = [call for call in range(len(invoke)) if happened[call]]
    while len(waiting) > 0:
        call = waiting.pop()
        for place in range(seen[actions[call]], seen[actions[call + 1]]):
            append = elements[place]
            if append < 0:
                return happened, ABORTED_READ if append == ABORTED else PHANTOM, call
            writer = call_of[append]
            if happened[writer]:
                continue
            if invoke[writer] >= cut:
                return happened, PHANTOM, call
            happened[writer] = True
            waiting.append(writer)
    return happened, LEGAL, -1


@plain_version_of(happened_by)
def _happened_by(
    invoke: Ints, complete: Ints, actions: Ints, call_of: Ints, seen: Ints, elements: Ints, cut: int
) -> tuple[Bools, int, int]:
    """Do the same, with a loop over only the elements that settle a call."""
    happened = complete <= min(cut, NEVER - 1)
    bounds = seen[actions].tolist()
    has_seen = np.diff(bounds) > 0
    waiting = np.flatnonzero(happened & has_seen).tolist()
    while waiting:
        call = waiting.pop()
        appends = elements[bounds[call] : bounds[call + 1]]
        is_open = (appends < 0) | ~happened[call_of[np.maximum(appends, 0)]]
        for append in appends[is_open].tolist():
            if append < 0:
                return happened, ABORTED_READ if append == ABORTED else PHANTOM, call
            writer = int(call_of[append])
            if invoke[writer] >= cut:
                return happened, PHANTOM, call
            if not happened[writer]:
                happened[writer] = True
                waiting.append(writer)
    return happened, LEGAL, -1


@kernel
def order_of(
    happened: Bools,
    call_of: Ints,
    is_read: Bools,
    list_number: Ints,
    earlier: Ints,
    seen: Ints,
    elements: Ints,
) -> tuple[Ints, Ints, int, int]:
    """Return the elements of each list in order, as far as the order is known.

    The order is the longest read and its direct continuation: the other appends of the transaction
    of its last element, or else the appends of a transaction that had read all of it.

    Returns:
        int64[k], actions; int64[l + 1], the start of each list; the problem, and its call.
    """
    count = list_number.max() + 1 if len(list_number) else 0
    counts = is_read & happened[call_of]
    longest = longest_reads(count, counts, list_number, seen)
    order, offsets = [0 for _ in range(0)], np.zeros(count + 1, dtype=np.int64)
    action = stray_read(counts, list_number, seen, elements, longest)
    if action >= 0:
        return longest, offsets, INCOMPATIBLE, call_of[action]
    is_known = np.zeros(len(is_read), dtype=np.bool_)
    lasts = np.full((2, count), -1)
    lengths = np.diff(seen)
    for number in np.nonzero(longest >= 0)[0]:
        lasts[1, number] = lengths[longest[number]]
        for append in elements[seen[longest[number]] : seen[longest[number] + 1]]:
            if is_known[append]:
                return longest, offsets, DUPLICATE, call_of[longest[number]]
            is_known[append] = True
            lasts[0, number] = append
    appends = ~is_read & happened[call_of] & ~is_known
    callers = _next_callers(appends, call_of, is_read, list_number, earlier, lengths, lasts)
    head, following = _linked(appends, call_of, list_number, callers, lasts)
    for place in range(count):
        if longest[place] >= 0:
            order.extend(elements[seen[longest[place]] : seen[longest[place] + 1]])
        follower = head[place]
        while follower >= 0:
            order.append(follower)
            follower = following[follower]
        offsets[place + 1] = len(order)
    return np.array(order, dtype=np.int64), offsets, LEGAL, -1


@kernel
def stray_read(counts: Bools, list_number: Ints, seen: Ints, elements: Ints, longest: Ints) -> int:
    """Return a read that is no prefix of its list's longest, -1 otherwise."""
    for (action,) in np.argwhere(counts):
        first = seen[longest[list_number[action]]]
        for place in range(seen[action], seen[action + 1]):
            if elements[place] != elements[first + place - seen[action]]:
                return int(action)
    return -1


@plain_version_of(stray_read)
def _stray_read(counts: Bools, list_number: Ints, seen: Ints, elements: Ints, longest: Ints) -> int:
    """Do the same, with one comparison a read."""
    for action in np.flatnonzero(counts).tolist():
        read = elements[seen[action] : seen[action + 1]]
        first = seen[longest[list_number[action]]]
        if (read != elements[first : first + len(read)]).any():
            return action
    return -1


@kernel
def longest_reads(count: int, counts: Bools, list_number: Ints, seen: Ints) -> Ints:
    """Return the read of each list that saw most, -1 otherwise."""
    longest = np.full(count, -1)
    for action in range(len(counts)):
        if counts[action]:
            held = longest[list_number[action]]
            if held < 0 or seen[action + 1] - seen[action] > seen[held + 1] - seen[held]:
                longest[list_number[action]] = action
    return longest


@kernel
def _next_callers(
    appends: Bools,
    call_of: Ints,
    is_read: Bools,
    list_number: Ints,
    earlier: Ints,
    lengths: Ints,
    lasts: Ints,
) -> Ints:
    """Return whose appends have to follow each list's longest read, -1 where nobody's: int64[l].

    Args:
        appends: bool[a], which actions are appends that nobody saw.
        call_of: int64[a].
        is_read: bool[a].
        list_number: int64[a].
        earlier: int64[a].
        lengths: int64[a], how much an action saw.
        lasts: int64[2, l], the last element of each list, -1 if none, and the length; -1 for a list
            that nobody read.
    """
    writers, readers = np.full(lasts.shape[1], -1), np.full(lasts.shape[1], -1)
    for (action,) in np.argwhere(appends):
        number = list_number[action]
        last = lasts[0, number]
        if last >= 0 and call_of[last] == call_of[action] and last < action:
            writers[number] = call_of[action]
        before = earlier[action]
        while before >= 0 and not is_read[before]:
            before = earlier[before]
        if before >= 0 and lengths[before] == lasts[1, number] and readers[number] < 0:
            readers[number] = call_of[action]
    return np.where(writers >= 0, writers, readers)


@kernel
def _linked(
    appends: Bools, call_of: Ints, list_number: Ints, callers: Ints, lasts: Ints
) -> tuple[Ints, Ints]:
    """Return the appends of each list's next caller as a linked list.

    Returns:
        int64[l], the first of each list, and int64[a], the next of each; -1 for none.
    """
    head, tail = np.full(len(callers), -1), np.full(len(callers), -1)
    following = np.full(len(appends), -1)
    for (action,) in np.argwhere(appends):
        number = list_number[action]
        last = lasts[0, number]
        is_before = last >= 0 and call_of[last] == call_of[action] and action < last
        if callers[number] != call_of[action] or is_before:
            continue
        if tail[number] < 0:
            head[number] = action
        else:
            following[tail[number]] = action
        tail[number] = action
    return head, following


@kernel
def internal(
    happened: Bools, call_of: Ints, is_read: Bools, earlier: Ints, seen: Ints, elements: Ints
) -> tuple[int, int]:
    """Return whether transactions saw exactly their own earlier reads and appends.

    Reads of a list are known to be prefixes of one another.
    """
    for action in range(len(is_read)):
        if not is_read[action] or not happened[call_of[action]]:
            continue
        end, before = seen[action + 1], earlier[action]
        while before >= 0 and not is_read[before]:
            end -= 1
            if end < seen[action] or elements[end] != before:
                return INTERNAL, call_of[action]
            before = earlier[before]
        length = end - seen[action]
        if before >= 0 and length != seen[before + 1] - seen[before]:
            return INTERNAL, call_of[action]
        if before < 0 and length > 0 and call_of[elements[end - 1]] == call_of[action]:
            return INTERNAL, call_of[action]
    return LEGAL, -1
