"""The chance that nodes are handed: in some runs their random waits tie far too often.

Random back-offs keep candidates apart, so that votes are split once in many elections, and the
bugs of split votes are as rare. Any outcome of chance is a legal one: here it is a bad one more
often, until the end of the run, when progress is asked for. Not: chance of the world itself.
"""

from random import Random

from typing_extensions import override

TIES = (0.0, 0.0, 0.5, 0.8)


class ForcedTies:
    """How often a random wait is as short as can be; one for all nodes of a run."""

    __slots__ = ("share",)

    def __init__(self, share: float) -> None:
        self.share = share

    @classmethod
    def draw(cls, random: Random) -> "ForcedTies":
        """Draw a run of ordinary or of bad luck."""
        return cls(random.choice(TIES))


class NodeRandom(Random):
    """A node's chance in one incarnation."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._ties = ForcedTies(0.0)

    @classmethod
    def of(cls, seed: str, ties: ForcedTies) -> "NodeRandom":
        """Return the chance of one incarnation in this run."""
        random = cls(seed)
        random._ties = ties
        return random

    @override
    def randint(self, a: int, b: int) -> int:
        drawn = super().randint(a, b)
        share = self._ties.share
        return a if share and self.random() < share else drawn
