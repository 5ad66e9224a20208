"""The quorum's arithmetic: majorities of votes, of offsets, of contacts (KIP-595 "Vote", "Fetch").

Not: who sends what, or when. Everything here is a pure function of what the voters said.
"""

from collections.abc import Iterable
from enum import Enum

from kraftproof.node.core.base.types import Monotonic, Offset


class VoteResult(Enum):
    """An election is won, lost, or neither yet."""

    WON = "won"
    LOST = "lost"
    PENDING = "pending"


def majority(voters: int) -> int:
    """How many of this many voters are more than half."""
    return voters // 2 + 1


def vote_result(voters: int, granted: int, refused: int) -> VoteResult:
    """Judge an election: lost as soon as refusals make a majority impossible (595-16)."""
    if granted >= majority(voters):
        return VoteResult.WON
    if voters - refused < majority(voters):
        return VoteResult.LOST
    return VoteResult.PENDING


def majority_offset(flushed: Iterable[Offset]) -> Offset:
    """The largest offset that a majority of these, one for each voter, has reached (595-27)."""
    descending = sorted(flushed, reverse=True)
    return descending[majority(len(descending)) - 1]


def majority_contact(contacts: Iterable[Monotonic]) -> Monotonic:
    """The latest instant since which a majority, one contact each voter, has been heard."""
    descending = sorted(contacts, reverse=True)
    return descending[majority(len(descending)) - 1]
