"""SnapshotsAreDue and SnapshotsKeepTheInterval object to snapshots too early and too late."""

from dataclasses import replace

import pytest

from kraftproof.cluster.simulated.invariants.resources.retention import LATE_NS, LONGEST_WRITE_NS
from kraftproof.cluster.simulated.invariants.resources.snapshot_times import (
    SnapshotsAreDue,
    SnapshotsKeepTheInterval,
)
from kraftproof.node.core.base.config import SnapshotPolicy
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness

SECOND_NS = 1_000_000_000
RECORDS, INTERVAL_S = 10, 3
POLICY = SnapshotPolicy(bytes_between=RECORDS * 128, interval_ns=INTERVAL_S * SECOND_NS)
BOTH = replace(CONFIG, snapshots=POLICY)
BY_RECORDS = replace(CONFIG, snapshots=SnapshotPolicy(bytes_between=RECORDS * 128, interval_ns=0))


class Node:
    """A node whose image grows by records."""

    def __init__(self, invariant) -> None:
        self.harness = MonitorHarness(invariant)
        self.process = self.harness.process(1)
        self.end = 0

    def takes(self, records: int, seconds: float = 0) -> None:
        self.harness.now_ns += round(seconds * SECOND_NS)
        self.end += records
        self.process.moves(image_offset=self.end, high_watermark=self.end)

    def writes(self) -> list[str]:
        self.process.writes_snapshot(SnapshotId(self.end, 1), EMPTY_IMAGE)
        return self.harness.reported


@pytest.mark.parametrize(
    ("config", "records", "seconds", "is_early"),
    [
        (BOTH, RECORDS, 0, False),
        (BOTH, RECORDS - 1, 1, True),
        (BOTH, 1, INTERVAL_S, False),
        (BOTH, 1, INTERVAL_S - 0.1, True),
        (BY_RECORDS, RECORDS - 1, 100, True),
        (BY_RECORDS, RECORDS, 100, False),
    ],
)
def test_a_snapshot_after_too_few_records_and_too_little_time(
    config, records, seconds, is_early
) -> None:
    node = Node(SnapshotsAreDue(config))
    node.takes(0, seconds)
    node.takes(records)
    assert bool(node.writes()) == is_early
    node.harness.monitor.violations.clear()
    node.takes(0, seconds)
    node.takes(records)
    assert bool(node.writes()) == is_early


def test_a_downloaded_snapshot_counts_as_the_one_before() -> None:
    node = Node(SnapshotsAreDue(BY_RECORDS))
    node.process.moves(image_offset=0)
    node.end = 100
    node.process.loads_snapshot(SnapshotId(node.end, 1), EMPTY_IMAGE)
    node.takes(RECORDS - 1)
    assert len(node.writes()) == 1
    node.takes(RECORDS)
    assert len(node.writes()) == 1


def test_the_interval_counts_from_the_choice_before_a_wait_for_the_disk() -> None:
    node = Node(SnapshotsAreDue(BOTH))
    node.takes(RECORDS)
    node.harness.now_ns += 2 * SECOND_NS
    assert node.writes() == []
    node.takes(1, INTERVAL_S - 1)
    assert node.writes() == []


def test_a_slow_clock_has_earlier_snapshots_by_true_time() -> None:
    node = Node(SnapshotsAreDue(BOTH))
    node.harness.monitor.rate_error = 0.4
    node.takes(1, INTERVAL_S * 0.7)
    assert node.writes() == []


class Watched(Node):
    """A node of which the monitor takes a look each half second."""

    def __init__(self, config=BOTH) -> None:
        super().__init__(SnapshotsKeepTheInterval(config))

    def runs(self, seconds: float) -> list[str]:
        for _ in range(round(seconds * 2)):
            self.harness.now_ns += SECOND_NS // 2
            self.process.steps()
        return self.harness.reported


LATE_S = LATE_NS // SECOND_NS


def test_no_snapshot_for_longer_than_the_interval() -> None:
    node = Watched()
    node.takes(1)
    assert node.runs(INTERVAL_S + LATE_S) == []
    assert node.runs(1)[0].startswith("no snapshot for 8.5 s, the newest one ends at 0")


def test_a_node_without_an_interval_or_news_writes_none() -> None:
    quiet, by_records = Watched(), Watched(BY_RECORDS)
    quiet.takes(0)
    by_records.takes(1)
    assert quiet.runs(60) == by_records.runs(60) == []


def test_news_may_come_late() -> None:
    node = Watched()
    node.takes(0)
    assert node.runs(60) == []
    node.takes(1)
    assert node.runs(LATE_S) == []
    assert node.runs(1) != []


def test_a_write_that_waits_for_the_disk_delays_the_next_one() -> None:
    node = Watched()
    node.takes(1)
    assert node.writes() == []
    node.takes(1)
    assert node.runs(LONGEST_WRITE_NS // SECOND_NS) == []
    stored = StoredSnapshot(snapshot=SnapshotId(1, 1), size=1)
    for completed in node.harness.monitor.on_snapshot_completed:
        completed(node.process, stored, lambda: b"")
    assert len(node.runs(1)) == 1
