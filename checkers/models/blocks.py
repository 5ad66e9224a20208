"""Orders the updates of a register, if the update behind each read value is known.

As in `checkers.engines.register.unique_cas`: an update, the calls that read its value, the
compare-and-set that replaces the value, and so on, form a *block*, which no other call interrupts;
blocks are ordered one after the other (`checkers.models.block_order`). Values that no call reads
may be written any number of times.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.models.block_order import BEFORE_ALL, moments
from kraftproof.checkers.models.reducible import Events, OrderHint


class Access(NamedTuple):
    """The value that a call needs in a register and the value that the call sets.

    Either may be None.
    """

    found: Hashable | None
    left: Hashable | None


@dataclass(slots=True)
class _Block:
    """Consecutive updates, and the calls that read their values."""

    updates: list[int] = field(default_factory=list)
    first: int = NEVER
    last: int = BEFORE_ALL

    def take(self, invoked: int, over: int | None) -> None:
        """Take up the times of a call."""
        self.first = min(self.first, NEVER if over is None else over)
        self.last = max(self.last, invoked)


def order_of_blocks(
    accesses: Sequence[Access], events: Sequence[Events], initial: Hashable
) -> list[OrderHint | None] | None:
    """Return the position of each counted update; None if the writer of a value is unknown.

    Args:
        accesses: of each call, by invocation.
        events: the invocation, and the completion if the call surely took effect; a call without a
            completion counts if its value was read.
        initial: the initial value of the register.
    """
    sources = _sources(accesses, events, initial)
    if sources is None:
        return None
    counted = set(sources.values())
    counted |= {
        number
        for number, (access, (_, over)) in enumerate(zip(accesses, events, strict=True))
        if over is not None and access.left is not None
    }
    blocks = _blocks(accesses, events, sources, counted)
    if blocks is None:
        return None
    hints: list[OrderHint | None] = [None] * len(accesses)
    ordered = (number for block in _in_order(blocks) for number in block.updates)
    for place, number in enumerate(ordered):
        hints[number] = OrderHint("updates", place)
    return hints


def _sources(
    accesses: Sequence[Access], events: Sequence[Events], initial: Hashable
) -> dict[Hashable, int] | None:
    """Return the writer of each value read; None if several calls may be the writer."""
    leaving: dict[Hashable, list[int]] = {}
    for number, access in enumerate(accesses):
        if access.left is not None:
            leaving.setdefault(access.left, []).append(number)
    waiting = [
        access.found
        for access, (_, over) in zip(accesses, events, strict=True)
        if over is not None and access.found is not None
    ]
    sources: dict[Hashable, int] = {}
    while waiting:
        value = waiting.pop()
        some = leaving.get(value, [])
        if value in sources or (value == initial and not some):
            continue
        if value == initial or len(some) != 1:
            return None
        sources[value] = some[0]
        found = accesses[some[0]].found
        if found is not None:
            waiting.append(found)
    return sources


def _blocks(
    accesses: Sequence[Access],
    events: Sequence[Events],
    sources: dict[Hashable, int],
    counted: Collection[int],
) -> list[_Block] | None:
    """Return the blocks, the beginning's first.

    None if two updates replace the same value, or if replacements form a cycle.
    """
    heads: list[int | None] = [None]
    following: dict[int | None, int] = {}
    for number in sorted(counted):
        found = accesses[number].found
        if found is None:
            heads.append(number)
        elif following.setdefault(sources.get(found), number) != number:
            return None
    blocks = [_Block(first=BEFORE_ALL if head is None else NEVER) for head in heads]
    block_of: dict[int | None, _Block] = dict(zip(heads, blocks, strict=True))
    for head, block in list(block_of.items()):
        block.updates += [] if head is None else [head]
        here = head
        while (here := following.get(here)) is not None:
            block.updates.append(here)
            block_of[here] = block
    if any(number not in block_of for number in counted):
        return None
    for number, (access, (invoked, over)) in enumerate(zip(accesses, events, strict=True)):
        if access.left is None and over is not None:
            block_of[sources.get(access.found)].take(invoked, over)
        elif number in block_of:
            block_of[number].take(invoked, over)
    return blocks


def _in_order(blocks: Sequence[_Block]) -> list[_Block]:
    """Return the blocks in their necessary order."""
    first = np.array([block.first for block in blocks])
    last = np.array([block.last for block in blocks])
    return [blocks[place] for place in np.argsort(moments(first, last), kind="stable").tolist()]
