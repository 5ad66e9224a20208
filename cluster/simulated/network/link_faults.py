"""Faults of links that are not cut: losses, resets, stalls and slow links.

A run draws permanent link faults once, for every link; the nemesis adds faults to single links
for a while. The faults use a random source of their own, so that removing a fault leaves the rest
of the run unchanged. Links of clients have no faults: a client never retries, so a fault there
would only leave the operation open.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from random import Random

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link

HARNESS = 0
"""The machine id of the clients."""
FIRST_RETRANSMISSION_NS = 200_000_000
"""TCP's smallest retransmission time-out, in nanoseconds; each further loss doubles the value."""
NO_FAULT_SHARE = 0.6
"""Share of runs without permanent link faults."""
SLOW_SHARE = 0.3
"""Share of slow links in a run that has slow links."""
NO_FAULT = LinkFault()
KINDS = ("lossy", "resetting", "stalling", "slow")


def draw_link_fault(random: Random) -> LinkFault:
    """Draw the permanent link faults of a run: mostly none, else one or several kinds."""
    if random.random() < NO_FAULT_SHARE:
        return NO_FAULT
    kinds = random.sample(KINDS, random.choice((1, 1, 2, 4)))
    return LinkFault(
        loss=random.choice((0.0005, 0.002, 0.01)) if "lossy" in kinds else 0.0,
        reset=random.choice((0.0002, 0.001, 0.003)) if "resetting" in kinds else 0.0,
        stall=random.choice((0.0002, 0.001)) if "stalling" in kinds else 0.0,
        stall_ns=random.choice((400_000_000, 2_000_000_000)),
        slow_ns=random.choice((5_000_000, 20_000_000, 60_000_000)) if "slow" in kinds else 0,
    )


def describe_link_fault(link_fault: LinkFault) -> str:
    """Describe a link fault in a few words."""
    words = []
    if link_fault.loss:
        words.append(f"loss {link_fault.loss:.2%}")
    if link_fault.reset:
        words.append(f"reset {link_fault.reset:.2%}")
    if link_fault.stall:
        words.append(f"stall {link_fault.stall:.2%} to {link_fault.stall_ns / 1e9:g} s")
    if link_fault.slow_ns:
        words.append(f"slow +{link_fault.slow_ns / 1e6:g} ms")
    return " ".join(words) or "no link faults"


class LinkFaults:
    """The present faults of each link."""

    __slots__ = ("_faults", "_random", "hits")

    def __init__(self, random: Random) -> None:
        self._random = random
        self._faults: dict[Link, list[LinkFault]] = {}
        self.hits: Counter[Link] = Counter()
        """Number of messages affected by a fault since the start, by link."""

    @property
    def is_empty(self) -> bool:
        """Return whether no link has a fault."""
        return not self._faults

    def spread(self, link_fault: LinkFault, node_ids: Sequence[int]) -> None:
        """Add the permanent faults of a run to every link; only a share of the links is slow."""
        quick = LinkFault(
            loss=link_fault.loss,
            reset=link_fault.reset,
            stall=link_fault.stall,
            stall_ns=link_fault.stall_ns,
        )
        for link in (Link(*ends) for ends in permutations(node_ids, 2)):
            is_slow = link_fault.slow_ns and self._random.random() < SLOW_SHARE
            found = link_fault if is_slow else quick
            if found.loss or found.reset or found.stall or found.slow_ns:
                self.add([link], found)

    def add(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Add a fault to links, in addition to present faults; links of clients are skipped."""
        for link in links:
            if HARNESS not in link:
                self._faults.setdefault(link, []).append(link_fault)

    def remove(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Remove a fault from links; a fault that is absent is ignored."""
        for link in links:
            link_faults = self._faults.get(link, [])
            if link_fault in link_faults:
                link_faults.remove(link_fault)
                if not link_faults:
                    del self._faults[link]

    def clear(self) -> None:
        """Remove every fault."""
        self._faults.clear()

    def delay_ns(self, link: Link) -> int:
        """Draw the extra delay of a message, in nanoseconds."""
        delay_ns = 0
        link_faults = self._faults.get(link)
        if link_faults is None:
            return delay_ns
        for link_fault in link_faults:
            delay_ns += link_fault.slow_ns
            if link_fault.loss:
                delay_ns += self._retransmissions_ns(link_fault.loss)
            if link_fault.stall and self._random.random() < link_fault.stall:
                delay_ns += int(self._random.random() * link_fault.stall_ns)
        if delay_ns:
            self.hits[link] += 1
        return delay_ns

    def resets(self, link: Link) -> bool:
        """Draw whether the connection breaks as a request arrives."""
        for link_fault in self._faults.get(link, ()):
            if link_fault.reset and self._random.random() < link_fault.reset:
                self.hits[link] += 1
                return True
        return False

    def is_carried_out(self) -> bool:
        """Draw whether the server handles the request whose arrival broke the connection."""
        return self._random.random() < 0.5

    def _retransmissions_ns(self, loss: float) -> int:
        total_ns, timeout_ns = 0, FIRST_RETRANSMISSION_NS
        while self._random.random() < loss:
            total_ns += timeout_ns
            timeout_ns *= 2
        return total_ns
