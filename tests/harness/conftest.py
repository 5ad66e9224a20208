"""A short simulated run that several tests look at, each without changing it."""

import pytest

from tests.harness.command import KRAFTPROOF, run


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
