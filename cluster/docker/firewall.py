"""Links cut by iptables inside the target's pod: one way, packet by packet, in a chain of our own.

A rule on the target's INPUT drops what comes from the source, so the source may still hear the
target. Nothing of the host's own tables is touched, and Docker's nat table in the pod neither.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping

from kraftproof.cluster.docker.engine import Threads
from kraftproof.cluster.docker.namespace import PodNetwork
from kraftproof.cluster.protocol import ClusterError, Link

CHAIN = "KRAFTPROOF"
RESTORE = 'printf "%s" "$1" | iptables-restore -w --noflush'
COUNTED = re.compile(rf"^\[(\d+):\d+\] -A {CHAIN} -s ([0-9.]+)(?:/32)? .*-j DROP$", re.MULTILINE)


class Firewall:
    """The links of one run."""

    __slots__ = ("_addresses", "_cut", "_guarded", "_lock", "_networks", "_threads")

    def __init__(
        self, threads: Threads, networks: Mapping[int, PodNetwork], addresses: Mapping[int, str]
    ) -> None:
        self._threads = threads
        self._networks = networks
        self._addresses = addresses
        self._cut: set[Link] = set()
        self._guarded: set[int] = set()
        self._lock = asyncio.Lock()

    async def cut(self, links: frozenset[Link]) -> None:
        """Drop packets on these links; what is cut already stays so, its counter too."""
        async with self._lock:
            new = sorted(links - self._cut)
            # Noted first: if this is cancelled half-way, healing must look at all of them.
            self._cut |= links
            await self._each(new, self._add)

    async def heal(self, links: frozenset[Link]) -> None:
        """Let packets through again."""
        async with self._lock:
            old = sorted(links & self._cut)
            await self._each(old, self._remove)
            self._cut -= links

    async def withheld(self, links: frozenset[Link]) -> int:
        """Return how many packets were dropped on these links since their cut."""
        counts = await self._each(sorted(links & self._cut), self._count)
        return sum(counts)

    async def _each(self, links: list[Link], work: Callable[[int, list[int]], int]) -> list[int]:
        """Do the work for each target with its sources, side by side."""
        targets: dict[int, list[int]] = {}
        for link in links:
            targets.setdefault(link.target, []).append(link.source)
        jobs = [self._threads.run(work, target, targets[target]) for target in sorted(targets)]
        return list(await asyncio.gather(*jobs))

    def _add(self, target: int, sources: list[int]) -> int:
        lines = [f"-A {CHAIN} -s {self._addresses[source]} -j DROP" for source in sources]
        if target not in self._guarded:
            lines = [f":{CHAIN} - [0:0]", f"-I INPUT -j {CHAIN}", *lines]
        self._restore(target, lines)
        self._guarded.add(target)
        return len(sources)

    def _remove(self, target: int, sources: list[int]) -> int:
        present = self._drops(target)
        doomed = [source for source in sources if self._addresses[source] in present]
        self._restore(
            target, (f"-D {CHAIN} -s {self._addresses[source]} -j DROP" for source in doomed)
        )
        return len(doomed)

    def _count(self, target: int, sources: list[int]) -> int:
        drops = self._drops(target)
        return sum(drops.get(self._addresses[source], 0) for source in sources)

    def _drops(self, target: int) -> dict[str, int]:
        """The dropped packets of a node by the address that they came from."""
        text = self._checked(target, ("iptables-save", "-c", "-t", "filter"))
        return {address: int(packets) for packets, address in COUNTED.findall(text)}

    def _restore(self, target: int, lines: Iterable[str]) -> None:
        rules = "\n".join(("*filter", *lines, "COMMIT", ""))
        self._checked(target, ("sh", "-c", RESTORE, "sh", rules))

    def _checked(self, target: int, command: tuple[str, ...]) -> str:
        status, output = self._networks[target].run(command)
        if status:
            said = " ".join(output.split()) or f"exit status {status}"
            raise ClusterError(f"docker: firewall of node {target}: {said}")
        return output
