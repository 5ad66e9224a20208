"""Links cut or made lossy by iptables on the target's host: one way, in a chain of our own.

A rule on the target's INPUT drops what comes from the source, so the source may still hear the
target. Only the filter table of the network that the host's commands run in is touched.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping

from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.remote.host import Shell

CHAIN = "KRAFTPROOF"
RESTORE = 'printf "%s" "$1" | iptables-restore -w --noflush'
COUNTED = re.compile(
    rf"^\[(\d+):\d+\] -A {CHAIN} -s ([0-9.]+)(?:/32)?( -m statistic .*?)?( -j DROP)?$", re.MULTILINE
)
Loss = tuple[Link, float]
"""A link, and the share of its packets that are lost."""


class Firewall:
    """The links of one run."""

    __slots__ = ("_addresses", "_cut", "_guarded", "_lock", "_losses", "_shells", "_trusted")

    def __init__(
        self,
        shells: Mapping[int, Shell],
        addresses: Mapping[int, str],
        trusted: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        self._shells = shells
        self._trusted = trusted or {}
        """By node: conditions of packets that are accepted before anything is dropped."""
        self._addresses = addresses
        self._cut: set[Link] = set()
        self._losses: Counter[Loss] = Counter()
        self._guarded: set[int] = set()
        self._lock = asyncio.Lock()

    async def cut(self, links: frozenset[Link]) -> None:
        """Drop packets on these links; what is cut already stays so, its counter too."""
        self._require(links)
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

    async def lose(self, links: frozenset[Link], share: float) -> None:
        """Lose a share of the packets on these links, in addition to present losses."""
        self._require(links)
        async with self._lock:
            new = sorted(link for link in links if not self._losses[link, share])
            self._losses.update((link, share) for link in links)
            await self._each(new, lambda target, sources: self._lose(target, sources, share))

    async def lose_no_more(self, links: frozenset[Link], share: float) -> None:
        """Undo one `lose`; without a matching call, do nothing."""
        async with self._lock:
            known = [link for link in links if self._losses[link, share]]
            self._losses.subtract((link, share) for link in known)
            old = sorted(link for link in known if not self._losses[link, share])
            await self._each(
                old, lambda target, sources: self._lose(target, sources, share, option="-D")
            )

    async def lost(self, links: frozenset[Link]) -> tuple[int, int]:
        """Return the packets that the present losses took, and the packets that they looked at."""
        lossy = sorted({link for link, _ in +self._losses if link in links})
        lost = await self._each(lossy, self._count_lost)
        seen = await self._each(lossy, self._count_seen)
        return sum(lost), sum(seen)

    def _require(self, links: frozenset[Link]) -> None:
        """Refuse links of nodes that share the network of the machine.

        Raises:
            ClusterError: a target has no firewall of its own.
        """
        for link in sorted(links):
            if link.source not in self._addresses or link.target not in self._shells:
                raise ClusterError(f"node {link.target} has no firewall of its own")

    async def _each(
        self, links: list[Link], work: Callable[[int, list[int]], Awaitable[int]]
    ) -> list[int]:
        """Do the work for each target with its sources, side by side."""
        targets: dict[int, list[int]] = {}
        for link in links:
            targets.setdefault(link.target, []).append(link.source)
        jobs = [work(target, targets[target]) for target in sorted(targets)]
        return list(await asyncio.gather(*jobs))

    async def _add(self, target: int, sources: list[int]) -> int:
        await self._append(target, (f"-s {self._addresses[one]} -j DROP" for one in sources))
        return len(sources)

    async def _lose(
        self, target: int, sources: list[int], share: float, *, option: str = "-A"
    ) -> int:
        """Add or delete two rules for each source: one counts its packets, one drops a share."""
        rules = []
        for source in sources:
            address = f"-s {self._addresses[source]}"
            dropped = f"{address} -m statistic --mode random --probability {share:.6f} -j DROP"
            rules += [address, dropped]
        if option == "-A":
            await self._append(target, rules)
        else:
            await self._restore(target, (f"{option} {CHAIN} {rule}" for rule in rules))
        return len(sources)

    async def _append(self, target: int, rules: Iterable[str]) -> None:
        lines = [f"-A {CHAIN} {rule}" for rule in rules]
        if target not in self._guarded:
            accepted = [f"-A {CHAIN} {one} -j ACCEPT" for one in self._trusted.get(target, ())]
            lines = [f":{CHAIN} - [0:0]", *accepted, f"-I INPUT -j {CHAIN}", *lines]
        await self._restore(target, lines)
        self._guarded.add(target)

    async def _remove(self, target: int, sources: list[int]) -> int:
        present = await self._drops(target)
        doomed = [source for source in sources if self._addresses[source] in present]
        await self._restore(
            target, (f"-D {CHAIN} -s {self._addresses[source]} -j DROP" for source in doomed)
        )
        return len(doomed)

    async def _count(self, target: int, sources: list[int]) -> int:
        drops = await self._drops(target)
        return sum(drops.get(self._addresses[source], 0) for source in sources)

    async def _count_lost(self, target: int, sources: list[int]) -> int:
        return await self._sum(target, sources, lambda share, drop: bool(share and drop))

    async def _count_seen(self, target: int, sources: list[int]) -> int:
        return await self._sum(target, sources, lambda share, drop: not share and not drop)

    async def _sum(
        self, target: int, sources: list[int], counts: Callable[[str, str], bool]
    ) -> int:
        """Return the packets from these sources that the chosen rules have matched."""
        addresses = {self._addresses[source] for source in sources}
        return sum(
            int(packets)
            for packets, address, share, drop in await self._rules(target)
            if address in addresses and counts(share, drop)
        )

    async def _drops(self, target: int) -> dict[str, int]:
        """The dropped packets of a node by the address that they came from."""
        rules = await self._rules(target)
        return {address: int(n) for n, address, share, drop in rules if drop and not share}

    async def _rules(self, target: int) -> list[tuple[str, str, str, str]]:
        """Return packets, source, statistic match and target of each rule of the chain."""
        text = await self._checked(target, ("iptables-save", "-c", "-t", "filter"))
        return COUNTED.findall(text)

    async def _restore(self, target: int, lines: Iterable[str]) -> None:
        rules = "\n".join(("*filter", *lines, "COMMIT", ""))
        await self._checked(target, ("sh", "-c", RESTORE, "sh", rules))

    async def _checked(self, target: int, command: tuple[str, ...]) -> str:
        status, output = await self._shells[target].run(command)
        if status:
            said = " ".join(output.split()) or f"exit status {status}"
            raise ClusterError(f"firewall of node {target}: {said}")
        return output
