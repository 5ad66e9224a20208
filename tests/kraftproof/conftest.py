"""Runs and histories that several tests look at, and commands in the background."""

import subprocess

import pytest

from tests.support.command import KRAFTPROOF, begin, run


@pytest.fixture(scope="session")
def healthy_run(tmp_path_factory):
    """The directory of a valid run under kill."""
    store = tmp_path_factory.mktemp("store")
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "simulated", "--engine", "inline", "--nemesis", "kill"),
        *("--nodes", "3+1", "--time-limit", "16", "--rate", "10", "--seed", "5", "--store", store),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (directory,) = store.iterdir()
    return directory


@pytest.fixture
def environment(tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def harness(environment):
    """Starts a kraftproof in the background, which is surely gone after the test."""
    begun = []

    def start(*arguments):
        process = begin(
            *arguments,
            environment=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()  # closes its pipes, also where it was done before the interrupt


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """An invalid history that takes seconds to check and to explain."""
    path = tmp_path_factory.mktemp("interrupted") / "h.jsonl"
    options = ("--operations", "60000", "--keys", "40", "--corrupt", "stale-read", "--out", path)
    assert run(KRAFTPROOF, "generate", *options).returncode == 0
    return path
