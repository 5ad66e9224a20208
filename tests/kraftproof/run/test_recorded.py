"""A recorded run is read with its options and faults; what is wrong is one line."""

import json

import pytest

from kraftproof.cluster.protocol import nodes_of
from kraftproof.errors import UsageError
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.schedule import Scheduled
from kraftproof.options import RunOptions
from kraftproof.run.directory import RunDirectory
from kraftproof.run.planning import plan
from kraftproof.run.recorded import on_ground, read_recorded
from kraftproof.workloads.topics import Topics

NODES = nodes_of(controller=3, broker=3)
OPTIONS = RunOptions(
    nemeses=("pause",),
    node_config=(("a.b", "1"), ("c", "2")),
    operations=(1, 3),
    time_limit_s=12.5,
    fault_every_s=4.0,
    mutant="A1",
)


def scheduled(node: int, fault: object = None) -> Scheduled:
    return Scheduled(
        name="f0",
        kind="pause",
        at_ns=1_000_000_000,
        until_ns=2_500_000_000,
        fault=Pause(target=node) if fault is None else fault,
    )


def recorded(path, schedule=(), options=OPTIONS):
    RunDirectory(path=path).write_run(options, Topics(), NODES, schedule, None)
    return path


def edited(path, **fields):
    run = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**run, **fields}))
    return path


def test_options_and_faults_are_those_of_the_run(tmp_path):
    faults = (scheduled(2),)
    found = read_recorded(recorded(tmp_path, faults), OPTIONS.store)
    assert found.options == OPTIONS
    assert found.schedule() == faults
    assert found.is_guarded


def test_a_fault_without_a_text_is_drawn_from_the_seed(tmp_path):
    faults = (scheduled(2, Pause(target=object())),)
    found = read_recorded(recorded(tmp_path, faults), OPTIONS.store)
    assert found.schedule() is None


def test_a_run_of_a_search_has_no_guards(tmp_path):
    recorded(tmp_path)
    (tmp_path / "outcome.json").write_text('{"schema_version": 1, "is_guarded": false}')
    assert not read_recorded(tmp_path, OPTIONS.store).is_guarded


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"options": {}}, "options: backend is missing: this is no run of kraftproof test"),
        ({"schedule": ["1 2 flood"]}, "schedule: flood: unknown fault"),
    ],
)
def test_a_damaged_run_is_named(tmp_path, fields, line):
    edited(recorded(tmp_path), **fields)
    with pytest.raises(UsageError) as raised:
        read_recorded(tmp_path, OPTIONS.store).schedule()
    assert str(raised.value).startswith(f"{tmp_path}/run.json: {line}")


def test_options_out_of_range_are_named(tmp_path):
    run = json.loads((recorded(tmp_path) / "run.json").read_text())
    edited(tmp_path, options={**run["options"], "concurrency": 0})
    with pytest.raises(UsageError, match=r"run.json: options: --concurrency 0: 1 to 1000"):
        read_recorded(tmp_path, OPTIONS.store)


def test_an_option_that_an_older_version_did_not_know_has_its_default(tmp_path):
    run = json.loads((recorded(tmp_path) / "run.json").read_text())
    options = {name: value for name, value in run["options"].items() if name != "at_once"}
    edited(tmp_path, options=options)
    assert read_recorded(tmp_path, OPTIONS.store).options.at_once == 1


def test_a_run_of_an_older_version_has_no_faults(tmp_path):
    run = json.loads((recorded(tmp_path) / "run.json").read_text())
    del run["schedule"]
    (tmp_path / "run.json").write_text(json.dumps(run))
    with pytest.raises(UsageError, match="schedule is missing: an older version wrote the run"):
        read_recorded(tmp_path, OPTIONS.store)


def test_other_ground_is_a_backend_or_a_system():
    simulated = RunOptions(backend="simulated", mutant="A1", system_version="1")
    assert on_ground(simulated, None) == simulated
    assert on_ground(simulated, "docker") == RunOptions(
        backend="docker", mutant="A1", system_version="1"
    )
    assert on_ground(simulated, "apache-kafka:3.4.0") == RunOptions(
        backend="local", system="apache-kafka", system_version="3.4.0"
    )
    assert on_ground(simulated, "apache-kafka:").system_version == ""  # refused by the system
    compose = "compose:/x/compose.yml#/x/client.py:Client"
    assert on_ground(simulated, compose).system == compose
    assert on_ground(simulated, compose).system_version is None
    docker = RunOptions(backend="docker")
    assert on_ground(docker, "/x/system.py:KV") == RunOptions(
        backend="docker", system="/x/system.py:KV"
    )


def test_a_fault_on_a_node_that_the_cluster_lacks_is_refused(tmp_path):
    options = RunOptions(store=tmp_path, nemeses=("pause",), nodes="1+2")
    assert plan(options, (scheduled(3),)) == (scheduled(3),)
    with pytest.raises(UsageError, match="node 4: the nodes are 1 to 3"):
        plan(options, (scheduled(4),))
