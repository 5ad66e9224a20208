"""A damaged run.json is named in one line by each command that reads run directories."""

import json
import shutil

import pytest

from kraftproof.cluster.protocol import nodes_of
from kraftproof.options import RunOptions
from kraftproof.run.directory import RunDirectory
from kraftproof.workloads.topics import Topics
from tests.support.command import call, one_line

EVENTS = """\
{"index":0,"process":0,"type":"invoke","f":"lookup","key":"a","value":null,"time":1}
{"index":1,"process":0,"type":"ok","f":"lookup","key":"a","value":{"outcome":"absent"},"time":2}
"""
READERS = (("check",), ("check", "--json"), ("report",), ("explain",), ("replay",), ("shrink",))
REPEATERS = (("report",), ("replay",), ("shrink",))


@pytest.fixture
def run(tmp_path):
    directory = tmp_path / "run"
    directory.mkdir()
    nodes = nodes_of(controller=1, broker=1)
    options = RunOptions(backend="simulated", nemeses=())
    RunDirectory(path=directory).write_run(options, Topics(), nodes, (), None)
    (directory / "history.jsonl").write_text(EVENTS)
    return directory


def cut(path):
    path.write_bytes(path.read_bytes()[:300])


def binary(path):
    path.write_bytes(b"\xff\xfe\x00\x01")


def history(path):
    shutil.copy(path.with_name("history.jsonl"), path)


def nested(path):
    path.write_text('{"a":' + "[" * 100_000)


def field(place, value):
    """Gives the field at a place such as options.seed another value."""

    def damage(path):
        run = json.loads(path.read_text())
        *parents, last = place.split(".")
        inner = run
        for name in parents:
            inner = inner[name]
        inner[last] = value
        path.write_text(json.dumps(run))

    return damage


WHOLE = [cut, binary, history, nested]
FIELDS = [
    ("schema_version", 2),
    ("kraftproof", None),
    ("python", []),
    ("started", 5),
    ("workload", "topics"),
    ("workload.initial", ["{"]),
    ("nodes", [{"id": "1", "name": "a", "roles": ["broker"]}]),
    ("nodes", [{"id": 1, "name": "a", "roles": []}]),
    ("schedule", "1 2 kill"),
    ("guarantees", {"create": 1}),
    ("options", []),
    ("options.seed", "x"),
    ("options.expect", "delcared"),
    ("options.session_ms", -1),
    ("options.guards", {"fewest_bitten": -1}),
    ("options.guards", {"quiet_share": 7}),
]
OPTIONS = [
    ("system", None),
    ("mutant", 5),
    ("nemeses", [5]),
    ("nodes", 5),
    ("node_config", []),
    ("node_config", {"a": 1}),
    ("operations", ["x"]),
    ("concurrency", 1.5),
    ("time_limit_s", "12"),
    ("hosts", 5),
    ("backend", "lokal"),
]


def refusal(command, run):
    line = one_line(call(*command, run), 3)
    prefix = f"kraftproof check: {run}" if command[0] == "check" else f"kraftproof: {run}"
    assert line.startswith(f"{prefix}/run.json: ")


@pytest.mark.parametrize("damage", WHOLE)
@pytest.mark.parametrize("command", [*READERS, ("heal",)])
def test_a_damaged_file_is_named(command, damage, run):
    damage(run / "run.json")
    refusal(command, run)


@pytest.mark.parametrize(("place", "value"), FIELDS)
@pytest.mark.parametrize("command", READERS)
def test_a_wrong_field_is_named(command, place, value, run):
    field(place, value)(run / "run.json")
    refusal(command, run)


@pytest.mark.parametrize(("name", "value"), OPTIONS)
@pytest.mark.parametrize("command", REPEATERS)
def test_a_wrong_option_is_named(command, name, value, run):
    field(f"options.{name}", value)(run / "run.json")
    refusal(command, run)


def test_nothing_is_written_into_a_damaged_run(run):
    field("options.nodes", 5)(run / "run.json")
    before = sorted(run.iterdir())
    call("report", run)
    assert sorted(run.iterdir()) == before
