"""Without an extra, what needs the extra names it in one line; everything else works."""

import pytest

from tests.support.command import KRAFTPROOF, one_line, run, without
from tests.support.long_cases import long

EXTRAS = ("docker", "pandas", "paramiko", "pyspark", "testcontainers", "trustme")


@pytest.fixture
def bare(tmp_path):
    """The environment of an installation without extras, on a machine that names an engine."""
    (tmp_path / "hiding").mkdir()
    return without(tmp_path / "hiding", *EXTRAS) | {"DOCKER_HOST": "tcp://127.0.0.1:1"}


@pytest.mark.parametrize(
    "command",
    [
        ("test", "--backend", "docker"),
        pytest.param(("test", "--backend", "docker", "--nemesis", "clock"), marks=pytest.mark.long),
        ("up", "--backend", "docker"),
    ],
    ids=" ".join,
)
def test_the_docker_backend_names_its_extra(bare, command, tmp_path):
    store = ("--store", tmp_path / "store") if command[0] == "test" else ()
    line = one_line(run(KRAFTPROOF, *command, *store, environment=bare), 3)
    assert line == (
        "kraftproof: --backend docker needs the extra docker: pip install 'kraftproof[docker]'"
    )
    assert not (tmp_path / "store").exists()


def test_a_run_with_tls_names_its_extra(bare, tmp_path):
    asked = ("test", "--node-config", "security.inter.broker.protocol=SSL")
    line = one_line(run(KRAFTPROOF, *asked, "--store", tmp_path / "store", environment=bare), 3)
    assert line == "kraftproof: TLS needs the extra tls: pip install 'kraftproof[tls]'"
    assert not (tmp_path / "store").exists()


def test_a_run_that_spark_is_to_judge_is_refused_before_its_start(bare, tmp_path):
    asked = ("test", "--engine", "spark", "--store", tmp_path / "store")
    line = one_line(run(KRAFTPROOF, *asked, environment=bare), 3)
    assert line == (
        "kraftproof: --engine spark needs the extra spark: pip install 'kraftproof[spark]'"
    )
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "command", [("check", "--engine", "spark"), long(("analyze",))], ids=" ".join
)
def test_judging_on_spark_names_its_extra(bare, command, tmp_path):
    history = tmp_path / "history.jsonl"
    made = run(KRAFTPROOF, "generate", "--operations", 100, "--out", history, environment=bare)
    assert made.returncode == 0, made.stderr
    done = run(KRAFTPROOF, *command, history, environment=bare)
    assert done.returncode == 3
    assert "Spark needs the extra spark: pip install 'kraftproof[spark]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [long(("--help",)), long(("test", "--help")), ("list",), long(("sweep",))]
)
def test_what_needs_no_extra_works_without_any(bare, command):
    done = run(KRAFTPROOF, *command, environment=bare)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_list_of_faults_names_docker_without_the_extra(bare):
    with_all = run(KRAFTPROOF, "list", "faults")
    assert "docker" in with_all.stdout
    assert run(KRAFTPROOF, "list", "faults", environment=bare).stdout == with_all.stdout
