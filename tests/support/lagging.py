"""A whole run in which a controller is away until the others' logs begin above its end.

What is shown is read from the run's directory: that it was behind, came back by FetchSnapshot,
and which files it has then. Not: whether the run is valid, which its verdict says.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kraftproof.nemesis.fault import STANDBY_CONTROLLER, Fault, Role
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.schedule import SECOND_NS, Schedule, Scheduled
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.tools import dump_log
from kraftproof.options import RunOptions
from kraftproof.run.directory import make_run_directory
from kraftproof.run.display.progress import Silence
from kraftproof.run.runner import RunResult, execute

AWAY = ((1, 4), (9, 12))
"""In seconds: quiet enough for a verdict, and hundreds of records each."""
TIME_LIMIT_S = 18.0
SMALL_SNAPSHOTS = (("metadata.log.max.record.bytes.between.snapshots", "6000"),)
"""47 records a snapshot, and two snapshots are kept: a log reaches back about 1 s, so that a node
which is cut off for 3 s needs a snapshot, and a node that is slow for half a second needs none."""
STANDBY = Role(name=STANDBY_CONTROLLER)
FAULTS: dict[str, Fault] = {
    "kill": Kill(target=STANDBY),
    "partition": Cut(shape="isolation", around=STANDBY),
}


class Copy(NamedTuple):
    """A snapshot that came from the leader, and how far the node's own log had reached before."""

    node: int
    snapshot_end: int
    log_end_before: int


def run_with_a_lagging_controller(backend: str, kind: str, store: Path) -> RunResult:
    options = RunOptions(
        backend=backend,
        nemeses=(kind,),
        nodes="3+1",
        time_limit_s=TIME_LIMIT_S,
        seed=11,
        store=store,
        engine="inline",
        node_config=SMALL_SNAPSHOTS,
    )
    schedule: Schedule = tuple(
        Scheduled(
            name=f"f{number}",
            kind=kind,
            at_ns=start_s * SECOND_NS,
            until_ns=stop_s * SECOND_NS,
            fault=FAULTS[kind],
        )
        for number, (start_s, stop_s) in enumerate(AWAY)
    )
    return execute(options, make_run_directory(options), schedule, Silence())


def copies(run: Path) -> list[Copy]:
    """Every snapshot that a node took from the leader, as the nodes' traces tell."""
    found = []
    for trace in sorted(run.glob("nodes/*/trace.jsonl")):
        before = None
        for row in whole_rows(trace):
            if before is not None and row["snapshot_end"] > before["log_end"]:
                assert row["log_end"] == row["snapshot_end"], "its log begins anew there"
                found.append(Copy(row["node"], row["snapshot_end"], before["log_end"]))
            before = row
    return found


def whole_rows(trace: Path) -> Iterator[dict[str, Any]]:
    """The rows of a trace but those that a kill has cut short."""
    for line in trace.read_text().splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            yield json.loads(line)


def shows_catching_up(result: RunResult, capsys) -> None:
    """The run is valid, whoever was away took a snapshot, and our tool reads what it has."""
    assert result.verdict == "valid", result.why
    run = result.directory.path
    away = {
        target
        for line in (run / "faults.jsonl").read_text().splitlines()
        if (event := json.loads(line))["phase"] == "bitten"
        for target in event["targets"]
    }
    came_back = {copy.node for copy in copies(run)}
    assert came_back, "nobody was so far behind"
    assert came_back <= away, f"cut off were {away}, but snapshots came to {copies(run)}"
    for node in came_back:
        log = run / "nodes" / str(node) / "data" / DIRECTORY_NAME
        assert min(int(segment.stem) for segment in log.glob("*.log")) > 0
        for snapshot in log.glob("*.checkpoint"):
            dumped = dump_log.run(["--cluster-metadata-decoder", "--files", str(snapshot)])
            said = capsys.readouterr().out
            assert dumped == 0
            assert f"Snapshot end offset: {int(snapshot.name[:20])}, epoch: " in said
            assert said.index("SnapshotHeader") < said.index("REGISTER_BROKER_RECORD")
            assert said.splitlines()[-1].endswith('SnapshotFooter {"version":0}')
