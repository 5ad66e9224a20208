"""Live runs with an authorizer and logins: they work, and their password is in no record."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.reference.chosen_security import (
    CLASS_KEY,
    MECHANISM_KEY,
    PASSWORD,
    STANDARD,
    harness_login,
    security_settings,
)
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.cluster.systems.system import SystemUnavailableError

RUN_SECONDS = 240


def options(backend: str, **settings: str) -> ClusterOptions:
    return ClusterOptions(
        nodes=nodes_of(controller=1, broker=1),
        seed=1,
        directory=Path("x"),
        backend=backend,
        node_config=tuple(settings.items()),
    )


@pytest.mark.parametrize(
    ("backend", "key", "value", "words"),
    [
        ("local", MECHANISM_KEY, "GSSAPI", "=GSSAPI: is none of PLAIN, SCRAM-SHA-256"),
        ("local", CLASS_KEY, "example.Mine", "=example.Mine: the only authorizer is"),
        ("simulated", MECHANISM_KEY, "PLAIN", "only live nodes can have that"),
        ("simulated", CLASS_KEY, STANDARD, "only live nodes can have that"),
    ],
)
def test_what_no_node_can_have_is_refused(backend: str, key: str, value: str, words: str) -> None:
    with pytest.raises(SystemUnavailableError, match=words):
        ReferenceSystem().refuse_settings(options(backend, **{key: value}))


def test_a_workload_with_security_of_its_own_takes_no_other() -> None:
    chosen = replace(options("local", **{CLASS_KEY: STANDARD}), has_security=True)
    with pytest.raises(SystemUnavailableError, match=f"{CLASS_KEY}: the workload sets"):
        ReferenceSystem().refuse_settings(chosen)
    ReferenceSystem().refuse_settings(replace(chosen, has_security=False))


def test_the_harness_is_the_super_user_with_and_without_logins() -> None:
    alone = {CLASS_KEY: STANDARD}
    assert security_settings(alone, "CONTROLLER") == {"super.users": "User:ANONYMOUS"}
    assert harness_login(options("local", **alone)) is None
    both = {**alone, MECHANISM_KEY: "SCRAM-SHA-256"}
    assert security_settings(both, "PLAINTEXT")["super.users"] == "User:kraftproof"
    assert security_settings({}, "PLAINTEXT") == {}
    login = harness_login(options("local", **both))
    assert login is not None
    assert PASSWORD not in repr(login)


@pytest.mark.parametrize(
    ("backend", "mechanism"),
    [
        ("local", "PLAIN"),
        ("local", "SCRAM-SHA-512"),
        pytest.param("docker", "SCRAM-SHA-256", marks=pytest.mark.docker),
    ],
)
def test_a_secured_run_is_valid_and_keeps_its_password(
    tmp_path: Path, backend: str, mechanism: str
) -> None:
    command = [sys.executable, "-m", "kraftproof", "test", "--json", "--store", str(tmp_path)]
    chosen = (f"{MECHANISM_KEY}={mechanism}", f"{CLASS_KEY}={STANDARD}")
    settings = [part for entry in chosen for part in ("--node-config", entry)]
    done = subprocess.run(
        [
            *command,
            "--backend",
            backend,
            "--nodes",
            "1+1",
            "--time-limit",
            "3",
            "--nemesis",
            "none",
            *settings,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.stdout, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["verdict"] == "valid", done.stderr
    (run,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    secured = list(run.rglob("server.properties"))
    assert len(secured) == 2
    assert all("SASL_PLAINTEXT" in path.read_text() for path in secured)
    told = [path for path in run.rglob("*") if path.is_file() and path not in secured]
    assert len(told) > 5
    assert [path.name for path in told if PASSWORD.encode() in path.read_bytes()] == []
    assert PASSWORD not in done.stdout + done.stderr
