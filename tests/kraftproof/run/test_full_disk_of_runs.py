"""A disk that is full ends a run at once: one line that names the path, exit code 3."""

import subprocess

import pytest

from tests.cluster.local.test_full_disk import may_mount
from tests.support.command import KRAFTPROOF, call, run
from tests.support.long_cases import long, mostly_long

pytestmark = pytest.mark.simulation


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of some kilobytes, which is gone after the test."""
    if not may_mount():
        pytest.skip("mounting a small file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(kilobytes):
        options = ["-t", "tmpfs", "-o", f"size={kilobytes}k"]
        subprocess.run(["mount", *options, "kraftproof", disk], check=True)
        return disk

    yield mount
    subprocess.run(["umount", "--lazy", disk], check=False)


def assert_path_named(done, disk):
    """Check that a command ended with one line that names the path on the full disk."""
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"kraftproof: {disk}/store")
    assert last.endswith("No space left on device")


@pytest.mark.parametrize(
    "kilobytes",
    mostly_long(((f"{size}", size) for size in (4, 40, 120, 160, 200)), ["4", "200"]),
)
def test_a_simulated_run_names_the_path_wherever_the_disk_is_full(small_disk, kilobytes):
    disk = small_disk(kilobytes)
    done = call(
        *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "1+1"),
        *("--nemesis", "pause", "--time-limit", "12", "--rate", "20", "--store", disk / "store"),
    )
    assert_path_named(done, disk)
    history = next(disk.glob("store/*/history.jsonl"), None)
    assert history is None or history.read_bytes()[-1:] in {b"", b"\n"}


@pytest.mark.parametrize("kilobytes", [long(4), 60, long(200)])
def test_a_search_names_the_path_wherever_the_disk_is_full(small_disk, kilobytes):
    disk = small_disk(kilobytes)
    done = run(
        KRAFTPROOF,
        *("sim", "--seed", "0", "--mutant", "A18", "--time-limit", "20"),
        *("--store", disk / "store"),
    )
    assert_path_named(done, disk)


@pytest.mark.long
def test_a_live_run_is_ended_at_once_and_its_nodes_are_gone(small_disk):
    disk = small_disk(1200)
    done = run(
        KRAFTPROOF,
        *("test", "--engine", "inline", "--nodes", "1+1", "--nemesis", "pause"),
        *("--time-limit", "600", "--rate", "500", "--store", disk / "store"),
        timeout=120,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith("No space left on device")
    left = subprocess.run(["pgrep", "-f", str(disk)], check=False, capture_output=True)
    assert left.stdout == b""
