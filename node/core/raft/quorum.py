"""Compute majorities of votes, of offsets and of contacts (KIP-595 "Vote", "Fetch").

Every function is pure.
"""

from collections.abc import Iterable
from enum import Enum

from kraftproof.node.core.base.types import Monotonic, Offset


class VoteResult(Enum):
    """The result of an election; PENDING as long as missing votes can decide."""

    WON = "won"
    LOST = "lost"
    PENDING = "pending"


def majority(voters: int) -> int:
    """Return the smallest number of voters that is more than half."""
    return voters // 2 + 1


def vote_result(voters: int, granted: int, refused: int) -> VoteResult:
    """Return the result of an election; refusals that make a majority impossible lose (595-16)."""
    if granted >= majority(voters):
        return VoteResult.WON
    if voters - refused < majority(voters):
        return VoteResult.LOST
    return VoteResult.PENDING


def majority_offset(flushed: Iterable[Offset]) -> Offset:
    """Return the largest offset that a majority has flushed; one offset per voter (595-27)."""
    descending = sorted(flushed, reverse=True)
    return descending[majority(len(descending)) - 1]


def majority_contact(contacts: Iterable[Monotonic]) -> Monotonic:
    """Return the latest instant since which a majority has been heard; one instant per voter."""
    descending = sorted(contacts, reverse=True)
    return descending[majority(len(descending)) - 1]
