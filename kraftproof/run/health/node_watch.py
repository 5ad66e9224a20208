"""Watch the nodes of a live run: processes, fatal lines of the output, and leaders.

The watch looks once a second: times are exact to about a second. A line of the output is
matched when the line is complete; of a line only the first kilobytes count.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kraftproof.checkers.text import shortened
from kraftproof.cluster.capabilities import LinkFaultCapable
from kraftproof.cluster.exit_status import ExitStatusCapable
from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.remote.output import OUTPUT_NAME
from kraftproof.cluster.remote.output_limit import read_output
from kraftproof.cluster.scope import Task
from kraftproof.cluster.systems.system import System

LOOK_NS: Final = 1_000_000_000
GAP_NS: Final = 3_500_000_000
"""The longest time between two looks that belong together."""
LEADERS_NS: Final = 10_000_000_000
"""Time in which a system must name the leaders."""
READ_BYTES: Final = 1 << 20
"""The most bytes of output per look; the last look reads the output to its end."""
LINE_BYTES: Final = 4096
MOST_LINES: Final = 100
"""The largest number of fatal lines per node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FatalLine:
    """A line about damage for good, printed by a node."""

    node_id: int
    time_ns: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The result of a look; the processes were seen between `begun_ns` and `time_ns`."""

    begun_ns: int
    time_ns: int
    processes: dict[int, int]
    """The ids of the nodes' processes, of those that have a process."""
    leaders: dict[int, int]
    """The leaders by their own word, with the epoch."""
    exit_statuses: dict[int, int] = field(default_factory=dict)
    """The exit statuses of the nodes without a process, as far as they are known."""

    @property
    def up(self) -> frozenset[int]:
        """The nodes with a process."""
        return frozenset(self.processes)


def are_leaders(found: object) -> bool:
    """Return whether a value has an epoch for each of some nodes."""
    return isinstance(found, Mapping) and all(
        isinstance(number, int) for pair in found.items() for number in pair
    )


@dataclass(slots=True)
class _Output:
    """The output of a node as far as it was read."""

    path: Path
    place: int = 0
    """Number of bytes that were read or left out."""
    rest: bytes = b""
    """The beginning of an incomplete line."""

    def new_lines(self) -> list[str]:
        try:
            begin, read = read_output(self.path, self.place, READ_BYTES)
        except OSError:
            return []
        if begin != self.place:
            self.rest = b""
        self.place = begin + len(read)
        *lines, rest = (self.rest + read).split(b"\n")
        self.rest = rest[:LINE_BYTES]
        return [line[:LINE_BYTES].decode("utf-8", "replace") for line in lines]

    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0


@dataclass(slots=True)
class NodeWatch:
    """The looks at the nodes of a live run."""

    cluster: Cluster
    system: System
    report: Callable[[Exception], None]
    """Takes a mistake of the system or a failed proxy, which ends the run."""
    looks: list[Look] = field(default_factory=list)
    fatal: list[FatalLine] = field(default_factory=list)
    _outputs: dict[int, _Output] = field(default_factory=dict)
    wall_ns: int = 0
    """The wall-clock time at time 0 of the looks."""
    broken_link: str | None = None
    """The proxy that failed by itself; the links of the nodes are no longer as the faults say."""
    _task: Task[None] | None = None

    def start(self) -> None:
        """Begin to look; the nodes are up, and earlier output counts as well."""
        self.wall_ns = time.time_ns() - self.cluster.scope.now()
        for node in self.cluster.nodes:
            path = self.cluster.node_files(node.node_id) / OUTPUT_NAME
            self._outputs[node.node_id] = _Output(path)
        self._task = self.cluster.scope.spawn(self._look_always())

    async def stop(self) -> None:
        """Look for the last time, at all that the nodes have printed."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            most = max((one.size() for one in self._outputs.values()), default=0)
            for _ in range(most // READ_BYTES + 1):
                self._read(self._outputs)

    async def _look_always(self) -> None:
        while True:
            try:
                await self._look()
            except ClusterError:
                pass  # a node that can't be asked now is asked again
            except Exception as error:  # noqa: BLE001 - reported to the run
                self.report(error)
                return
            await self.cluster.scope.sleep(LOOK_NS)

    async def _look(self) -> None:
        if self.broken_link is None and isinstance(self.cluster, LinkFaultCapable):
            self.broken_link = await self.cluster.link_failure()
            if self.broken_link is not None:
                self.report(ClusterError(self.broken_link))
        begun_ns = self.cluster.scope.now()
        processes, exit_statuses = {}, {}
        for node in self.cluster.nodes:
            process_id = await self.cluster.process_id(node.node_id)
            if process_id is not None:
                processes[node.node_id] = process_id
            elif isinstance(self.cluster, ExitStatusCapable):
                status = await self.cluster.exit_status(node.node_id)
                if status is not None:
                    exit_statuses[node.node_id] = status
        time_ns = self.cluster.scope.now()
        culprit = plugin("system", self.system.name, self.system)
        with blamed(culprit, "leaders", ClusterError):
            asking = self.system.leaders(self.cluster)
            leaders: object = await self.cluster.scope.within(asking, LEADERS_NS)
        if not are_leaders(leaders):
            expected = "a dict of node ids and epochs"
            raise returned(culprit, "leaders", leaders, expected)
        assert isinstance(leaders, Mapping)
        self._read(self._outputs)
        self.looks.append(
            Look(
                begun_ns=begun_ns,
                time_ns=time_ns,
                processes=processes,
                leaders=dict(leaders),
                exit_statuses=exit_statuses,
            )
        )

    def _read(self, nodes: Iterable[int]) -> None:
        patterns = [re.compile(pattern) for pattern in self.system.fatal_output]
        for node_id in nodes if patterns else ():
            kept = sum(one.node_id == node_id for one in self.fatal)
            for text in self._outputs[node_id].new_lines():
                if kept < MOST_LINES and any(pattern.search(text) for pattern in patterns):
                    kept += 1
                    found = FatalLine(
                        node_id=node_id,
                        time_ns=self.cluster.scope.now(),
                        text=shortened(text.strip()),
                    )
                    self.fatal.append(found)
