"""Models that packages register: one name, one model.

Each test installs a package of its own: a folder on the path with its metadata, as pip makes it.
"""

from pathlib import Path

import pytest

from kraftproof.checkers.models import ENTRY_POINT_GROUP, models
from kraftproof.checkers.models.queue import Queue
from kraftproof.checkers.verdict import CheckerInputError
from kraftproof.cli import run
from tests.checkers.conftest import HISTORIES


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package that registers one model, for the time of a test."""
    models.cache_clear()

    def installed(package: str, name: str, value: str) -> None:
        site = tmp_path / package
        metadata = site / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            f"[{ENTRY_POINT_GROUP}]\n{name} = {value}\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(site)

    yield installed
    models.cache_clear()


def test_a_model_that_a_package_brings_is_known_by_its_name(install):
    install("plugged", "waiting-line", "kraftproof.checkers.models.queue:Queue")
    assert isinstance(models()["waiting-line"], Queue)


def test_one_model_that_is_registered_twice_is_one(install):
    install("plugged", "queue", "kraftproof.checkers.models.queue:Queue")
    assert isinstance(models()["queue"], Queue)


@pytest.mark.parametrize("name", ["queue", "waiting-line"])
def test_two_models_of_one_name_are_refused_and_both_named(install, name):
    install("plugged", name, "kraftproof.checkers.models.stack:Stack")
    install("another", name, "kraftproof.checkers.models.stack:Stack")
    install("third", name, "kraftproof.checkers.models.priority_queue:PriorityQueue")
    with pytest.raises(CheckerInputError) as refused:
        models()
    line = str(refused.value)
    assert line.startswith(f"model {name}: registered twice in {ENTRY_POINT_GROUP}, as ")
    assert "kraftproof.checkers.models.priority_queue:PriorityQueue of third" in line
    assert line.count(" of ") == 2
    assert "\n" not in line


def test_the_command_says_so_in_one_line(install, capsys):
    install("plugged", "queue", "kraftproof.checkers.models.stack:Stack")
    history = Path(HISTORIES) / "etcd" / "etcd_002.jsonl"
    assert run(["check", "--engine", "inline", str(history)]) == 3
    assert capsys.readouterr().err == (
        f"kraftproof check: model queue: registered twice in {ENTRY_POINT_GROUP}, as"
        " kraftproof.checkers.models.queue:Queue of kraftproof and"
        " kraftproof.checkers.models.stack:Stack of plugged:"
        " rename or uninstall one\n"
    )
