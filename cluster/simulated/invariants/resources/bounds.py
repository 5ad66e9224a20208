"""The invariants of what a node holds in memory: requests, continuations and other tables.

The invariants look at a process once in a while, so that they cost nothing per step.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.cluster.simulated.invariants.moments import held_ns, moment
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import MOST_UNCOMMITTED
from kraftproof.node.core.partition.log_index import MOST_SPANS
from kraftproof.node.core.partition.producers import COMPARED_BATCHES

LOOK_NS = milliseconds(5_000)
"""Time between two looks at a process; a table that only grows does not shrink meanwhile."""
HELD_NS = milliseconds(500)
"""A look counts if the process was held no longer than this since the look before.

A pause and a wait for the disk hold a process. The requests that arrive meanwhile wait in the
tables, and the process serves the requests afterwards.
"""
MOST_OPEN_REQUESTS = 150
MOST_ENTRIES = 150
LARGE_TABLES = {
    "Replicas.observers": 1_000,
    "LogIndex.spans": MOST_SPANS,
    "_Producer.batches": MOST_UNCOMMITTED + COMPARED_BATCHES,
    "RecoveredLog.producer_batches": MOST_UNCOMMITTED + COMPARED_BATCHES,
}
"""The tables that may have more entries than MOST_ENTRIES; see node/core/raft/replicas.py, and
node/core/partition/producers.py for batches above a high watermark that does not advance."""
TABLES_OF_PARTITIONS = {
    "AlterPartitionSender.open",
    "DirectoryAssignments.confirmed",
    "FailedLogs.by_id",
    "Fetcher.replicas",
    "PartitionExecutor.flushes",
    "Purgatory.by_log",
    "Replicas.by_log",
    "Replicas.changed",
    "Replicas.misplaced",
    "Replicas.offline",
    "Replicas.partitions",
    "Replicas.recovered",
    "_Entry.logs",
}
"""The tables with an entry for each partition of a broker, or each log on its disk, besides."""
TABLES_OF_TOPICS = {"_View.kept"}
"""The tables with an entry for each topic of an earlier image, besides."""


class Bound(Invariant):
    """An invariant that looks at each process once in a while."""

    def __init__(self) -> None:
        super().__init__()
        self._next_look: dict[int, int] = {}
        self._held: dict[int, int] = {}
        """By node: how long the process was paused or waited for its disk, up to its last look."""

    @override
    def on_look(self, process: ProcessView) -> None:
        now_ns = process.now_ns()
        if now_ns < self._next_look.get(process.node_id, 0):
            return
        self._next_look[process.node_id] = now_ns + LOOK_NS
        held = held_ns(moment(process))
        before = self._held.get(process.node_id, held)
        self._held[process.node_id] = held
        if held - before > HELD_NS:
            return
        for excess in self.excesses(process):
            self.monitor.report_violation(self, process, excess)

    @abstractmethod
    def excesses(self, process: ProcessView) -> Iterator[str]:
        """Yield a sentence for each bound that a process exceeds."""


class OpenRequestsAreBounded(Bound):
    """A table of open requests that only grows ends in a lack of memory."""

    statement = f"A node has at most {MOST_OPEN_REQUESTS} requests without an answer."

    @override
    def excesses(self, process: ProcessView) -> Iterator[str]:
        count = sum(1 for _ in process.open_requests())
        if count > MOST_OPEN_REQUESTS:
            yield f"{count} open requests"


class TablesAreBounded(Bound):
    """A table that only grows, such as the continuations of requests, ends in a lack of memory."""

    statement = (
        f"No table in a node's core or shell has more than {MOST_ENTRIES} entries, the observers "
        f"of a leader no more than {LARGE_TABLES['Replicas.observers']}, the batches of a producer "
        f"or a start no more than {LARGE_TABLES['_Producer.batches']}, the index of a log no more "
        f"than {MOST_SPANS}, and a table of partitions or topics "
        "no more than there are partitions or topics besides."
    )

    def __init__(self) -> None:
        super().__init__()
        self._most_topics: defaultdict[int, int] = defaultdict(int)
        """By node: the most topics of an image at a look."""

    @override
    def excesses(self, process: ProcessView) -> Iterator[str]:
        topics = max(len(process.image.topics), self._most_topics[process.node_id])
        self._most_topics[process.node_id] = topics
        for table, count in process.table_sizes():
            most = LARGE_TABLES.get(table, MOST_ENTRIES)
            if count > most and table in TABLES_OF_PARTITIONS:
                most += sum(map(len, process.image.partitions.values()))
                most += len(process.partitions)  # after a start, the image comes later
            if table in TABLES_OF_TOPICS:
                most += topics  # the broker drops the answers of deleted topics with its next one
            if count > most:
                yield f"{table} has {count} entries"
