"""The width of a beam search, and how far back it restarts after a failure.

A beam search drops states, so that it can fail although an order exists. Each failure calls for
another attempt: first with other heuristics and the same width, then with twice the width, from
twice as far back. Once the search is past all its failures, it is narrow again. A portfolio of
heuristics: Huberman, Lukose and Hogg, "An economics approach to hard computational problems", 1997.
"""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Effort:
    """The effort of a beam search at the moment.

    Attributes:
        first: The width before any failure.
        most: The maximum width.
        attempts: The number of attempts with each width.
        apart: The distance between two checkpoints, in completions.
        fails: The number of failures since the search was last past all of them.
        furthest: The furthest completion at which the search failed.
    """

    first: int
    most: int
    attempts: int
    apart: int
    fails: int = 0
    furthest: int = -1

    @property
    def width(self) -> int:
        """The number of states to keep at each completion."""
        return min(self.first << self.fails // self.attempts, self.most)

    @property
    def back(self) -> int:
        """The number of checkpoints to go back."""
        return 1 << self.fails // self.attempts

    @property
    def attempt(self) -> int:
        """The number of earlier attempts with the present width."""
        return self.fails % self.attempts

    def came_to(self, position: int) -> None:
        """Note that the search reached a completion."""
        if position > self.furthest + self.apart:
            self.fails = 0

    def failed_at(self, position: int) -> None:
        """Note that no state passed a completion."""
        self.furthest = max(self.furthest, position)
        self.fails += 1
