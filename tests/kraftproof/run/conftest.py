"""Runs of `kraftproof test` with plug-ins of which a test replaces some methods."""

from zlib import crc32

import pytest

from kraftproof import cli
from kraftproof.checkers.models import models
from tests.support.plugins import install


@pytest.fixture
def package(request):
    """A name that no other test has imported."""
    return f"plugins_{crc32(request.node.name.encode())}"


@pytest.fixture
def test(monkeypatch, tmp_path, capsys, package):
    """Runs `kraftproof test` with plug-ins of which some methods are replaced."""

    def run_test(replaced, *arguments):
        install(tmp_path / "site", package, replaced)
        monkeypatch.syspath_prepend(tmp_path / "site")
        models.cache_clear()
        status = cli.run(
            [
                *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "1+1"),
                *("--system", package, "--workload", package, "--nemesis", package),
                *("--time-limit", "10", "--rate", "5", "--store", str(tmp_path / "store")),
                *arguments,
            ]
        )
        return status, *capsys.readouterr()

    yield run_test
    models.cache_clear()
