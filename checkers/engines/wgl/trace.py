"""How a search of the general engine came to its configurations, for who asks for an order."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

Configuration = tuple[int, int, int, Hashable]
"""(return, linearized, used, state), as `checkers.engines.wgl.search` has them."""


@dataclass(slots=True, kw_only=True)
class Trace:
    """How a search came to its configurations; costs memory, so only explanations keep one.

    Attributes:
        parents: for each configuration that was chosen, the one whose choice it was.
        furthest: the first of those that passed the most completions.
        passed: how many those are.
    """

    parents: dict[Configuration, Configuration] = field(default_factory=dict)
    furthest: Configuration | None = None
    passed: int = -1

    def note(self, origin: Configuration, passed: int, chosen: Sequence[Configuration]) -> None:
        """Note how many completions a configuration passes, and what it leaves to choose from."""
        if passed > self.passed:
            self.furthest, self.passed = origin, passed
        for configuration in chosen:
            self.parents.setdefault(configuration, origin)
