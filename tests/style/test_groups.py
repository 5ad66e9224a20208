"""Tests that share something costly run in one worker, the others in any."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.groups import NODES, group_of

ROOT = Path(__file__).resolve().parents[2]
SHARING = """
import os
import pytest

@pytest.fixture(scope="module")
def shared():
    return os.getpid()

@pytest.mark.parametrize("number", range(4))
def test_shares(shared, number):
    print(f"shared {os.getpid()}")
"""
ALONE = """
import os
import time
import pytest

@pytest.mark.parametrize("number", range(6))
def test_alone(tmp_path_factory, number):
    time.sleep(0.5)
    print(f"alone {os.getpid()}")

@pytest.mark.slow
def test_slow():
    print("slow")
"""


@pytest.mark.long
def test_a_fixture_of_a_module_keeps_its_tests_in_one_worker_and_slow_tests_begin_first(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: begins first\n")
    (tmp_path / "test_sharing.py").write_text(SHARING)
    (tmp_path / "test_alone.py").write_text(ALONE)
    command = (sys.executable, "-m", "pytest", "-p", "tests.conftest", "-v", "-rP", "-n", "2")
    done = subprocess.run(
        [*command, "--dist", "loadgroup", "--no-loadscope-reorder", tmp_path],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    begun = [line for line in lines if " PASSED " in line]
    assert "test_slow" in begun[0] + begun[1]
    by_worker = [{line for line in lines if line.startswith(kind)} for kind in ("shared", "alone")]
    assert [len(workers) for workers in by_worker] == [1, 2], done.stdout


@pytest.mark.parametrize(
    ("file", "group"),
    [
        ("tests/cluster/docker/test_faults.py", "tests/cluster/docker/test_faults.py"),
        ("tests/cluster/docker/test_runs.py", None),
        ("tests/kafka/test_tools.py", NODES),
        ("tests/kafka/tools/test_metadata_quorum.py", NODES),
        ("tests/kafka/test_our_broker.py", "tests/kafka/test_our_broker.py"),
    ],
)
def test_a_file_is_a_group_if_its_tests_share_a_fixture(file, group):
    found = group_of(ROOT / file)
    assert found == (group if group in {None, NODES} else str(ROOT / group))
