"""Who owns what: told by labels alone, without an engine."""

import asyncio
import os
import subprocess

import msgspec
import pytest

from kraftproof.cluster.docker.machines import Machines
from kraftproof.cluster.docker.owner import OWNER, labels, owner_of
from kraftproof.cluster.docker.sweep import KEPT_IMAGES, superseded
from kraftproof.cluster.local.hosts import LocalHost
from kraftproof.cluster.owner import Life, this_owner
from kraftproof.cluster.processes import identify
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.node_clock import NodeClock, clock_file
from kraftproof.cluster.remote.clocks.reports import FileReport
from kraftproof.cluster.remote.run_name import run_name
from kraftproof.cluster.systems.reference.clock import wall_clock


def test_labels_name_this_process_and_it_is_alive():
    owner = owner_of(labels("a-run"))
    assert owner == this_owner()
    assert owner.process.pid == os.getpid()
    assert owner.life is Life.ALIVE


def test_a_process_that_has_ended_is_a_dead_owner():
    with subprocess.Popen(["sleep", "60"]) as process:
        identity = identify(process.pid)
        assert identity is not None
        owner = msgspec.structs.replace(this_owner(), process=identity)
        assert owner.life is Life.ALIVE
        process.kill()
    assert owner.life is Life.DEAD


def test_a_later_process_with_the_same_id_is_not_the_owner():
    owner = this_owner()
    process = msgspec.structs.replace(owner.process, start_time=owner.process.start_time - 1)
    assert msgspec.structs.replace(owner, process=process).life is Life.DEAD


def test_the_life_of_owners_elsewhere_can_not_be_told_from_here():
    owner = this_owner()
    assert msgspec.structs.replace(owner, namespace="1").life is Life.OTHER_NAMESPACE
    process = msgspec.structs.replace(owner.process, boot="another")
    assert msgspec.structs.replace(owner, process=process).life is Life.OTHER_BOOT


@pytest.mark.parametrize("text", ["", "1", "a:b:c:d", "a:b:1", "a:1:1:2:3", "a:1::2", "a:1:-1:2"])
def test_a_label_that_is_not_readable_names_nobody(text: str):
    assert owner_of({OWNER: text}) is None


def test_images_are_superseded_when_old_and_unused():
    created = {f"image-{day}": f"2026-01-0{day}" for day in range(1, 7)}
    assert superseded(created, {"image-2"}) == ["image-3", "image-1"]
    assert KEPT_IMAGES == 3
    assert superseded({"image-1": "2026"}, set()) == []


def test_run_names_are_fit_for_the_engine_and_never_the_same(tmp_path):
    directory = tmp_path / "a run: topics/@7"
    names = {run_name(directory.parent.parent / "a run: topics") for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith("a-run-topics-") for name in names)


def test_more_nodes_than_a_subnet_holds_are_refused():
    with pytest.raises(ClusterError, match="241 nodes: a run has at most 240"):
        Machines("big", range(1, 242))


def test_a_clock_file_is_replaced_whole_and_a_torn_trace_line_is_passed_over(tmp_path):
    host = LocalHost(tmp_path, {})
    clock = NodeClock(host, writes_file=True)
    report = FileReport(host, wall_clock, tmp_path)
    path = clock_file(tmp_path)
    assert asyncio.run(report.offset()) is None
    asyncio.run(clock.shift(-1_500_000_000))
    assert path.read_text() == "-1.500000\n"
    asyncio.run(clock.shift(0))
    assert path.read_text() == "+0.000000\n"
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    (tmp_path / "trace.jsonl").write_text('{"time":1,"wall":2}\n{"time":5,"wa')
    assert wall_clock(tmp_path) == 1
    assert asyncio.run(report.offset()) is not None
