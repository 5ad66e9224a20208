"""Directed links between simulated machines: how long things take, and what is withheld.

A cut link keeps what is sent over it, as a sender's TCP does, and lets it go after the heal; what
belongs to a connection that was given up meanwhile goes or is lost, by the seed. Not: connections
and requests (network.py), losses and stalls (link_faults.py). Machine 0 is the harness; its links
are never cut.
"""

from collections.abc import Callable, Iterable
from math import log
from random import Random

from msgspec import Struct

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.network.link_faults import HARNESS, LinkFaults

__all__ = ("HARNESS", "RETRANSMISSION_NS", "Delays", "Links", "Stream")

RETRANSMISSION_NS = 200_000_000
"""The longest that a withheld segment is retransmitted after the heal."""


class Stream:
    """One direction of a connection: what goes in first comes out first."""

    __slots__ = ("is_given_up", "last_arrival_ns", "link")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.last_arrival_ns = 0
        self.is_given_up = False


class Delays(Struct, frozen=True, kw_only=True):
    """The network of one run: drawn once, so that runs differ in kind."""

    base_ns: int
    mean_ns: int
    spike_share: float
    spike_ns: int

    @classmethod
    def draw(cls, random: Random) -> "Delays":
        """Draw a quick, an ordinary or a bad network."""
        return cls(
            base_ns=random.choice((50_000, 200_000, 500_000)),
            mean_ns=random.choice((50_000, 300_000, 1_000_000)),
            spike_share=random.choice((0.0, 0.002, 0.01)),
            spike_ns=random.choice((20_000_000, 100_000_000)),
        )

    def next_ns(self, random: Random) -> int:
        """Draw how long one message takes."""
        delay = self.base_ns + int(-log(1.0 - random.random()) * self.mean_ns)
        if self.spike_share and random.random() < self.spike_share:
            delay += int(random.random() * self.spike_ns)
        return delay


class Links:
    """All links of a cluster."""

    __slots__ = (
        "_cuts",
        "_held",
        "_random",
        "_scheduler",
        "_link_faults",
        "_withheld",
        "delays",
        "link_faults",
    )

    def __init__(self, scheduler: Scheduler, random: Random, link_faults: LinkFaults) -> None:
        self._scheduler = scheduler
        self._random = random
        self._link_faults = link_faults
        self.link_faults: LinkFaults | None = None if link_faults.is_empty else link_faults
        """None while nothing is wrong anywhere, so that a calm run does not pay for it."""
        self.delays = Delays.draw(random)
        self._cuts: set[Link] = set()  # asked for membership only
        self._withheld: dict[Link, int] = {}
        self._held: dict[Link, list[tuple[Stream, Callable[[], None]]]] = {}

    def now_ns(self) -> int:
        """True time."""
        return self._scheduler.now_ns

    def is_cut(self, link: Link) -> bool:
        """Whether the link withholds what is sent over it."""
        return link in self._cuts

    def cut(self, link: Link) -> None:
        """Withhold from now on, what is on its way too."""
        if link not in self._cuts:
            self._cuts.add(link)
            self._withheld[link] = 0

    def heal(self, link: Link) -> None:
        """Let everything pass again, and what was held after a retransmission."""
        self._cuts.discard(link)
        for stream, arrive in self._held.pop(link, []):
            if stream.is_given_up and self._random.random() < 0.5:
                continue
            self._carry(stream, arrive, int(self._random.random() * RETRANSMISSION_NS))

    def heal_all(self) -> None:
        """Heal every link that is cut or bad."""
        self._link_faults.clear()
        self.link_faults = None
        for link in sorted(self._cuts):
            self.heal(link)

    def add_fault(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Make links bad, besides what is wrong with them already."""
        self._link_faults.add(links, link_fault)
        self.link_faults = self._link_faults

    def remove_fault(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Undo one `degrade`."""
        self._link_faults.remove(links, link_fault)
        if self._link_faults.is_empty:
            self.link_faults = None

    def fault_count(self, link: Link) -> int:
        """How many messages have been lost, reset, stalled or slowed on a link."""
        return self._link_faults.hits[link]

    def withheld(self, link: Link) -> int:
        """How many messages have been withheld since the link's last cut."""
        return self._withheld.get(link, 0)

    def send(self, stream: Stream, arrive: Callable[[], None]) -> None:
        """Carry one message over the stream's link, in the stream's order."""
        if self._cuts and stream.link in self._cuts:
            self._hold(stream, arrive)
        else:
            self._carry(stream, arrive, 0)

    def _carry(self, stream: Stream, arrive: Callable[[], None], extra_ns: int) -> None:
        due_ns = self._scheduler.now_ns + extra_ns + self.delays.next_ns(self._random)
        if self.link_faults is not None:
            due_ns += self.link_faults.delay_ns(stream.link)
        due_ns = max(due_ns, stream.last_arrival_ns)
        stream.last_arrival_ns = due_ns

        def arrived() -> None:
            if self._cuts and stream.link in self._cuts:
                self._hold(stream, arrive)
            else:
                arrive()

        self._scheduler.at(due_ns, arrived)

    def _hold(self, stream: Stream, arrive: Callable[[], None]) -> None:
        self._withheld[stream.link] += 1
        self._held.setdefault(stream.link, []).append((stream, arrive))
