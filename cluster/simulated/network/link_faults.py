"""What goes wrong on links that are not cut: losses, resets, stalls and slow links.

Some of it a run has everywhere, drawn once; the rest is faults on some links for a while. It has
a chance of its own, so that a run without it is the same run. Clients' links are left alone: a
client never retries, so each fault there would only leave an operation open.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from random import Random

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link

HARNESS = 0
"""The machine of the clients."""
FIRST_RETRANSMISSION_NS = 200_000_000
"""TCP's smallest time-out for a segment; it doubles with each further loss."""
CALM_SHARE = 0.6
"""The share of runs whose network has nothing but delays."""
SLOW_SHARE = 0.3
"""The share of links that are slow where links are."""
CALM = LinkFault()
KINDS = ("lossy", "resetting", "stalling", "slow")


def draw_link_fault(random: Random) -> LinkFault:
    """Draw the link_faults of a run: mostly calm, else one kind of fault or several."""
    if random.random() < CALM_SHARE:
        return CALM
    kinds = random.sample(KINDS, random.choice((1, 1, 2, 4)))
    return LinkFault(
        loss=random.choice((0.0005, 0.002, 0.01)) if "lossy" in kinds else 0.0,
        reset=random.choice((0.0002, 0.001, 0.003)) if "resetting" in kinds else 0.0,
        stall=random.choice((0.0002, 0.001)) if "stalling" in kinds else 0.0,
        stall_ns=random.choice((400_000_000, 2_000_000_000)),
        slow_ns=random.choice((5_000_000, 20_000_000, 60_000_000)) if "slow" in kinds else 0,
    )


def describe_link_fault(link_fault: LinkFault) -> str:
    """Say in a few words what is wrong."""
    words = []
    if link_fault.loss:
        words.append(f"loss {link_fault.loss:.2%}")
    if link_fault.reset:
        words.append(f"reset {link_fault.reset:.2%}")
    if link_fault.stall:
        words.append(f"stall {link_fault.stall:.2%} to {link_fault.stall_ns / 1e9:g} s")
    if link_fault.slow_ns:
        words.append(f"slow +{link_fault.slow_ns / 1e6:g} ms")
    return " ".join(words) or "calm"


class LinkFaults:
    """What is wrong with which link now."""

    __slots__ = ("_random", "_faults", "hits")

    def __init__(self, random: Random) -> None:
        self._random = random
        self._faults: dict[Link, list[LinkFault]] = {}
        self.hits: Counter[Link] = Counter()
        """How many messages something has happened to, since the start."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wrong anywhere."""
        return not self._faults

    def spread(self, link_fault: LinkFault, node_ids: Sequence[int]) -> None:
        """Let a run's own link_faults be everywhere; slow are some of the links only."""
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
        """Something goes wrong on these links, besides what does already."""
        for link in links:
            if HARNESS not in link:
                self._faults.setdefault(link, []).append(link_fault)

    def remove(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """It goes wrong no more; what was not added is not missed."""
        for link in links:
            link_faults = self._faults.get(link, [])
            if link_fault in link_faults:
                link_faults.remove(link_fault)
                if not link_faults:
                    del self._faults[link]

    def clear(self) -> None:
        """Nothing is wrong any more."""
        self._faults.clear()

    def delay_ns(self, link: Link) -> int:
        """Draw how much longer a message takes."""
        delay_ns = 0
        for link_fault in self._faults.get(link, ()):
            delay_ns += link_fault.slow_ns
            if link_fault.loss:
                delay_ns += self._retransmissions_ns(link_fault.loss)
            if link_fault.stall and self._random.random() < link_fault.stall:
                delay_ns += int(self._random.random() * link_fault.stall_ns)
        if delay_ns:
            self.hits[link] += 1
        return delay_ns

    def resets(self, link: Link) -> bool:
        """Draw whether the connection of a request that arrives breaks."""
        for link_fault in self._faults.get(link, ()):
            if link_fault.reset and self._random.random() < link_fault.reset:
                self.hits[link] += 1
                return True
        return False

    def is_carried_out(self) -> bool:
        """Draw whether the request on which a connection broke is carried out."""
        return self._random.random() < 0.5

    def _retransmissions_ns(self, loss: float) -> int:
        total_ns, timeout_ns = 0, FIRST_RETRANSMISSION_NS
        while self._random.random() < loss:
            total_ns += timeout_ns
            timeout_ns *= 2
        return total_ns
