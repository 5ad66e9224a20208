"""The random source of a node; in some runs random waits of nodes are often equal.

Random election time-outs keep candidates apart, so split votes are rare, and bugs that need a
split vote are just as rare. Every random value is legal for a node: forced ties only make an
unlucky value more frequent, until the final phase of the run, when the cluster must make progress.
"""

from random import Random

from typing_extensions import override

TIES = (0.0, 0.0, 0.5, 0.8)


"""Shares of shortest possible waits; each run draws one of the values."""


class ForcedTies:
    """Share of random waits that take the shortest possible value, for all nodes of a run."""

    __slots__ = ("share",)

    def __init__(self, share: float) -> None:
        self.share = share

    @classmethod
    def draw(cls, random: Random) -> "ForcedTies":
        """Draw the share of a run; 0 in half of the runs."""
        return cls(random.choice(TIES))


class NodeRandom(Random):
    """The random source of one process of a node."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._ties = ForcedTies(0.0)

    @classmethod
    def of(cls, seed: str, ties: ForcedTies) -> "NodeRandom":
        """Return the random source of one process, with the forced ties of the run."""
        random = cls(seed)
        random._ties = ties
        return random

    @override
    def randint(self, a: int, b: int) -> int:
        drawn = super().randint(a, b)
        share = self._ties.share
        return a if share and self.random() < share else drawn
