"""The present cuts and faults of all links, and counts of what they did."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from random import Random

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link

NS_PER_S = 1_000_000_000
FIRST_RETRANSMISSION_S = 0.2
"""TCP's smallest retransmission time-out, in seconds; each further loss doubles the value."""


class LinkState:
    """The state of the links of one run."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"mesh {seed}")
        self._faults: dict[Link, list[LinkFault]] = {}
        self._cut: dict[Link, asyncio.Event] = {}
        self.withheld: Counter[Link] = Counter()
        """Pieces of data that waited since the cut of a link."""
        self.hits: Counter[Link] = Counter()
        """Pieces of data that a fault affected, by link."""

    def cut(self, links: Iterable[Link]) -> None:
        """Withhold the data of links."""
        for link in links:
            if link not in self._cut:
                self._cut[link] = asyncio.Event()
                self.withheld[link] = 0

    def heal(self, links: Iterable[Link]) -> None:
        """Let the data of links pass, first the data that waited."""
        for link in links:
            event = self._cut.pop(link, None)
            if event is not None:
                event.set()
            self.withheld.pop(link, None)

    def add(self, links: Iterable[Link], fault: LinkFault) -> None:
        """Add a fault to links."""
        for link in links:
            self._faults.setdefault(link, []).append(fault)

    def remove(self, links: Iterable[Link], fault: LinkFault) -> None:
        """Undo one `add`; without a matching call, do nothing."""
        for link in links:
            if fault in self._faults.get(link, ()):
                self._faults[link].remove(fault)

    async def pass_cut(self, link: Link) -> None:
        """Wait until a link is whole."""
        while (event := self._cut.get(link)) is not None:
            self.withheld[link] += 1
            await event.wait()

    def delay_s(self, link: Link) -> float:
        """Draw the delay of a piece of data: latency, retransmissions and stalls, in seconds."""
        delay_s = 0.0
        for fault in self._faults.get(link, ()):
            delay_s += fault.slow_ns / NS_PER_S
            timeout_s = FIRST_RETRANSMISSION_S
            while fault.loss and self._random.random() < fault.loss:
                delay_s += timeout_s
                timeout_s *= 2
            if fault.stall and self._random.random() < fault.stall:
                delay_s += self._random.random() * fault.stall_ns / NS_PER_S
        self.hits[link] += delay_s > 0
        return delay_s

    def resets(self, link: Link) -> bool:
        """Draw whether a piece of data breaks its connection."""
        shares = [fault.reset for fault in self._faults.get(link, ()) if fault.reset]
        hit = any(self._random.random() < share for share in shares)
        self.hits[link] += hit
        return hit

    def rate(self, link: Link) -> int:
        """Return the largest rate of a connection in bytes per second; 0 means no limit."""
        rates = [fault.bandwidth for fault in self._faults.get(link, ()) if fault.bandwidth]
        self.hits[link] += bool(rates)
        return min(rates, default=0)

    def limit(self, link: Link) -> int:
        """Return the bytes after which a connection ends; 0 means no limit."""
        return min((f.limit for f in self._faults.get(link, ()) if f.limit), default=0)

    def close_s(self, link: Link) -> float:
        """Return the delay of the end of a connection, in seconds."""
        return max((f.close_ns for f in self._faults.get(link, ())), default=0) / NS_PER_S
