"""Every bad input of a user: the real command, one line that names it, and its exit code."""

import os
import shlex
import shutil

import pytest

from kraftproof import cli
from tests.support.command import KRAFTPROOF, NODE, call, one_line, run
from tests.support.long_cases import long

ENGINE = ("--engine", "inline")
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
OTHER_ID = "BBBBBBBBBBBBBBBBBBBBBA"
STORAGE = (NODE[0], "-m", "kraftproof.node.tools.storage")
NO_DOCKER = {"DOCKER_HOST": "unix:///nonexistent"}


@pytest.fixture
def properties(tmp_path):
    """Writes a controller's server.properties; more lines may follow its own."""

    def write(extra="", name="data"):
        path = tmp_path / f"{name}.properties"
        path.write_text(
            "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
            "controller.quorum.voters=1@127.0.0.1:20901\nlisteners=CONTROLLER://127.0.0.1:20901\n"
            f"log.dirs={tmp_path / name}\n{extra}"
        )
        return path

    return write


def format_storage(path, cluster_id=CLUSTER_ID):
    assert run(STORAGE, "format", "-c", path, "-t", cluster_id).returncode == 0


# kraft-node: exit 1


def test_node_with_an_unknown_key(properties):
    line = one_line(run(NODE, properties("no.such.key=1\n")), 1)
    assert line == "kraft-node: no.such.key: unknown configuration key; remove it"


def test_node_whose_data_directory_is_a_file(properties, tmp_path):
    (tmp_path / "data").write_text("")
    line = one_line(run(NODE, properties()), 1)
    assert line.startswith(f"kraft-node: {tmp_path}/data: Not a directory; log.dirs")


def test_node_whose_data_directory_may_not_be_read(properties, tmp_path):
    unprivileged = ()
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        assert setpriv, "as root this test needs setpriv of util-linux"
        # Root without capabilities is refused by a directory's mode, as anybody else is.
        unprivileged = (setpriv, "--bounding-set=-all", "--inh-caps=-all")
    path = properties()
    format_storage(path)
    (tmp_path / "data").chmod(0o000)
    line = one_line(run((*unprivileged, *NODE), path), 1)
    assert line.startswith(f"kraft-node: {tmp_path}/data: Permission denied; log.dirs")


def test_node_with_a_directory_of_another_cluster(properties, tmp_path):
    other = properties(name="other")
    path = properties(f"metadata.log.dir={tmp_path}/other\n")
    format_storage(other, OTHER_ID)
    (tmp_path / "data").mkdir()
    meta = (tmp_path / "other" / "meta.properties").read_text()
    (tmp_path / "data" / "meta.properties").write_text(meta.replace(OTHER_ID, CLUSTER_ID))
    line = one_line(run(NODE, path), 1)
    assert f"{tmp_path}/data/meta.properties: cluster.id is {CLUSTER_ID}" in line
    assert f"but {OTHER_ID} in {tmp_path}/other" in line


def test_node_whose_log_is_corrupt_in_the_middle(properties, tmp_path, healthy_run):
    path = properties()
    format_storage(path)
    log = tmp_path / "data" / "__cluster_metadata-0"
    shutil.copytree(healthy_run / "nodes" / "1" / "data" / "__cluster_metadata-0", log)
    (log / "quorum-state").unlink(missing_ok=True)
    segment = log / "00000000000000000000.log"
    damaged = bytearray(segment.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    segment.write_bytes(damaged)
    line = one_line(run(NODE, path), 1)
    assert line.startswith(f"kraft-node: {segment}: corrupt at byte ")
    assert "restore the file" in line


@pytest.mark.parametrize("arguments", [(), ("--bogus", "x"), ("/nonexistent",)])
def test_node_that_is_called_wrongly(arguments):
    line = one_line(run(NODE, *arguments), 1)
    assert "-h shows the usage" in line or "/nonexistent: No such file" in line


# kraftproof: exit 3


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--workload flood", "unknown workload 'flood': one of topics, topic-names, "),
        (
            "--workload queue",
            "--workload queue: the clients of the system reference serve only topics, ",
        ),
        ("--nemesis storm", "unknown nemesis 'storm': one of kill, "),
        ("--nemesis ''", "--nemesis '': names of faults are expected, or none"),
        ("--nemesis ,", "--nemesis ',': names of faults are expected, or none"),
        ("--nemesis none,kill", "--nemesis none,kill: none can't be combined with faults"),
        (
            "--mutant A18 --system apache-kafka",
            "--mutant A18: the bug is one of our node, which the system apache-kafka does not run",
        ),
        (
            "--mutant A18 --system examples/kv/system.py:KV --workload register",
            "--mutant A18: the bug is one of our node, which the system kv does not run; only",
        ),
        ("--nemesis cpu", "--nemesis cpu: the local backend can't do that, only bandwidth"),
        (
            "--backend docker --nemesis wipe",
            "--nemesis wipe: the docker backend can't do that, only bandwidth, clock, ",
        ),
        ("--node-config num.partitions", "--node-config num.partitions: KEY=VALUE is expected"),
        (
            "--node-config broker.session.timeout.ms=1",
            "--node-config broker.session.timeout.ms: a run can't set that, only metadata.log.",
        ),
        (
            "--node-config metadata.log.segment.bytes=9",
            "--node-config metadata.log.segment.bytes=9: is not valid, a whole number from 1024",
        ),
    ],
)
def test_a_run_that_can_not_be(arguments, named):
    line = one_line(call("test", *ENGINE, *shlex.split(arguments)), 3)
    assert line.startswith(f"kraftproof: {named}")


def test_a_malformed_history_line(tmp_path):
    history = tmp_path / "history.jsonl"
    history.write_text(
        '{"index":0,"process":0,"type":"invoke","f":"read","key":"a","value":null}\nnot json\n'
    )
    line = one_line(call("check", history), 3)
    assert line.startswith(f"kraftproof check: {history}:2: not a JSON event")


@pytest.mark.parametrize("command", ["test", long("up")])
def test_no_docker(command, tmp_path):
    more = (*ENGINE, "--store", tmp_path / "store") if command == "test" else ()
    line = one_line(
        run(KRAFTPROOF, command, "--backend", "docker", *more, environment=NO_DOCKER), 3
    )
    assert line.startswith(
        "kraftproof: docker: DOCKER_HOST=unix:///nonexistent can't be used: No such"
    )
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("command", ["test", "check"])
def test_no_java(command, tmp_path, healthy_run):
    arguments = (healthy_run,) if command == "check" else ("--store", tmp_path / "store")
    environment = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    # A process of its own: a session of Spark in this process needs no further Java.
    done = run(KRAFTPROOF, command, *arguments, "--engine", "spark", environment=environment)
    assert "java" in one_line(done, 3).lower()


# A run directory that something has happened to


def cut(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def cut_history(run):
    cut(run / "history.jsonl", 0.5)
    return "history.jsonl:", "not a JSON event"


def cut_faults(run):
    cut(run / "faults.jsonl", 0.9)
    return "faults.jsonl:", "truncated"


def cut_run_file(run):
    cut(run / "run.json", 0.5)
    return "run.json:", "truncated"


def cut_table(run):
    cut(run / "tables" / "records.parquet", 0.5)
    return "tables/records.parquet: not a readable Parquet file", ""


def lose_history(run):
    (run / "history.jsonl").unlink()
    (run / "tables" / "operations.parquet").unlink()  # the same operations
    return "run directory without history.jsonl", ""


@pytest.mark.parametrize("damage", [cut_history, cut_faults, cut_run_file, cut_table, lose_history])
def test_a_damaged_run_directory_is_named(damage, healthy_run, tmp_path, capsys):
    directory = tmp_path / "run"
    shutil.copytree(healthy_run, directory)
    named, said = damage(directory)
    assert cli.run(["check", *ENGINE, str(directory)]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"kraftproof check: {directory}")
    assert named in line
    assert said in line


@pytest.mark.parametrize("above", ["", ".."])
@pytest.mark.parametrize("is_loop", [False, True])
def test_a_run_without_its_run_file_is_not_judged_by_its_history_alone(
    above, is_loop, healthy_run, tmp_path, capsys
):
    directory = tmp_path / "store" / "run"
    shutil.copytree(healthy_run, directory)
    run_file = directory / "run.json"
    run_file.unlink()
    if is_loop:
        run_file.symlink_to("run.json")
    assert cli.run(["check", *ENGINE, str((directory / above).resolve())]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith(f"kraftproof check: {run_file}: can't be read: ")


def test_a_table_that_is_missing_is_listed_as_not_applicable(healthy_run, tmp_path, capsys):
    directory = tmp_path / "run"
    shutil.copytree(healthy_run, directory)
    (directory / "tables" / "records.parquet").unlink()
    assert cli.run(["check", *ENGINE, str(directory)]) == 0
    assert "not applicable: kraft/logs-agree" in capsys.readouterr().out
