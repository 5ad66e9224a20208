"""Temporary folders: those of a harness that was killed are removed, and no others."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kraftproof.cluster.owner import this_owner
from kraftproof.cluster.temporary import sweep
from kraftproof.images.folders import owned_folder
from kraftproof.run.leftovers import sweep_all

SCRIPT = """
import time
from kraftproof.images.folders import owned_folder
folder = owned_folder("ssh")
open(folder.name + "/archive", "w").write("x")
print(folder.name, flush=True)
time.sleep(300)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of its own, so that a sweep sees the folders of the test only."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_harness_is_removed(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        folder = Path(harness.stdout.readline().decode().strip())
        assert folder.parent == temporary
        assert sweep() == []  # the harness runs
        assert folder.is_dir()
        harness.send_signal(signal.SIGKILL)
    line = f"folder {folder}: its owner {harness.pid} is gone, removed"
    assert line in sweep_all()
    assert not folder.exists()
    assert sweep() == []


@pytest.mark.parametrize("place", ["", "cache/kraftproof", "cache/kraftproof/go"])
def test_the_folder_of_a_killed_build_is_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary / "cache"))
    parent = temporary / place
    parent.mkdir(parents=True, exist_ok=True)
    with owned_folder("image", parent) as mine:
        owner = this_owner()
        assert owner.label.replace(":", "_") in mine
        dead = Path(mine.replace(f"_{owner.process.pid}_", "_4194399_"))
        dead.mkdir()
        (dead / "jar").write_text("x")
        (line,) = sweep()
        assert line == f"folder {dead}: its owner 4194399 is gone, removed"
        assert Path(mine).is_dir()


def test_no_other_folder_is_removed(temporary: Path) -> None:
    target = temporary / "precious"
    target.mkdir()
    dead = f"kraftproof-ssh-{'0' * 8}-0000-0000-0000-{'0' * 12}_1_1_1-x"
    (temporary / dead).symlink_to(target)
    (temporary / "kraftproof-0").mkdir()
    with owned_folder("ssh") as mine:
        before = sorted(os.listdir(temporary))
        assert sweep() == []
        assert sorted(os.listdir(temporary)) == before
        assert Path(mine).is_dir()
    (temporary / dead).unlink()
    (temporary / dead).mkdir()
    (line,) = sweep()
    assert line.endswith("its owner 1 is gone, removed")
