"""State which versions of requests a broker advertises, and when it asks a controller for them."""

from collections.abc import Mapping

from kraftproof.cluster.simulated.differential.brokers.membership_model import NOBODY, wait_ns
from kraftproof.cluster.simulated.differential.core.versions import OF_BROKERS, OF_CONTROLLERS
from kraftproof.cluster.simulated.differential.door.forward_model import FORWARDED
from kraftproof.node.core.base.config import NodeConfig

Asked = tuple[int, int]
"""A controller and its epoch."""
Versions = Mapping[int, tuple[int, int]]


class VersionsModel:
    """The versions of a broker (KIP-590, KIP-511)."""

    def __init__(self, config: NodeConfig, *, is_longest: bool) -> None:
        self._config, self._is_longest = config, is_longest
        self.advertised: Versions = OF_BROKERS
        self._current: Asked = (NOBODY, -1)
        """The controller whose versions the broker wants."""
        self._failures = 0
        self._due: int | None = None
        self.sent: list[Asked] = []
        """The expected questions of the step."""

    def advance(self, leader: int, epoch: int) -> None:
        """Ask a new controller; the broker's own controller needs no question."""
        if not self._config.asks_controller_versions:
            return
        if leader == NOBODY or self._current == (leader, epoch):
            return
        self._current, self._failures, self._due = (leader, epoch), 0, None
        if leader == self._config.node_id:
            self.advertised = common(OF_CONTROLLERS)
        else:
            self.sent.append(self._current)

    def next_time(self) -> int | None:
        """Return the time of the next question."""
        return self._due

    def tick(self, now: int) -> None:
        """Ask again after a failure."""
        if self._due is not None and now >= self._due:
            self._due = None
            self.sent.append(self._current)

    def answered(self, asked: Asked, versions: Versions | None, now: int) -> None:
        """Take the versions of a controller, or None for an error or a lost answer."""
        if asked != self._current:
            return
        if versions is not None:
            self.advertised = common(versions)
            return
        times = self._config.timeouts
        self._due = now + wait_ns(times, self._failures, is_longest=self._is_longest)
        self._failures += 1


def common(versions: Versions) -> Versions:
    """Return the versions of the broker, with those of a controller for forwarded requests."""
    found = {}
    for key, (oldest, newest) in OF_BROKERS.items():
        if key not in FORWARDED:
            found[key] = (oldest, newest)
        elif key in versions:
            least, most = versions[key]
            if shared := [one for one in range(oldest, newest + 1) if least <= one <= most]:
                found[key] = (shared[0], shared[-1])
    return found
