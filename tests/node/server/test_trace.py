"""The trace: a line for each change, whatever has cut the last one short."""

import json
from pathlib import Path

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.storage.disk import Disk


def status(epoch: int) -> NodeStatus:
    return NodeStatus(
        role="follower",
        epoch=Epoch(epoch),
        leader=NodeId(2),
        high_watermark=Offset(3),
        flushed=Offset(4),
        log_end=Offset(5),
        image_offset=Offset(3),
        image_digest=255,
    )


def instant(ms: int, wall_ms: int) -> Instant:
    return Instant(Monotonic(ms * 1_000_000), WallClock(wall_ms * 1_000_000))


def test_the_trace_has_a_line_for_each_change_and_each_jump_of_the_wall_clock() -> None:
    filesystem = SimulatedFileSystem()
    trace = TraceWriter(filesystem, "/trace", node=NodeId(7), incarnation="abc")
    trace.write(status(1), instant(10, 1010), "start")
    trace.write(status(1), instant(20, 1020), "Tick")
    trace.write(status(2), instant(30, 1030), "Received")
    trace.write(status(2), instant(40, 61040), "Tick")
    trace.write(status(2), instant(50, 61050), "Tick")
    rows = [json.loads(line) for line in filesystem.read("/trace").splitlines()]
    assert [(row["seq"], row["event"], row["epoch"]) for row in rows] == [
        (0, "start", 1),
        (1, "Received", 2),
        (2, "Tick", 2),
    ]
    assert rows[0]["image_digest"] == "000000000000000000000000000000ff"
    assert (rows[2]["time"], rows[2]["wall"]) == (40_000_000, 61_040_000_000)


def test_a_new_process_goes_on_below_a_line_that_a_kill_has_cut(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"seq":0,"ti')
    trace = TraceWriter(Disk(), str(path), node=NodeId(7), incarnation="abc")
    trace.write(status(1), instant(10, 1010), "start")
    trace.close()
    assert json.loads(path.read_text().splitlines()[-1])["seq"] == 0
