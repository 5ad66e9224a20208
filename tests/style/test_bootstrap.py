"""Bootstrap's promises that need no fresh machine: what is missing is named in one line."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("cat", "cut", "date", "dirname", "grep", "head", "mkdir", "sed", "sh", "sha256sum", "tail")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH with the plainest tools only, on which we are not root and apt-get exists."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    program(folder / "id", "echo 1000")
    program(folder / "apt-get", "exit 9")
    program(folder / "python3", "exit 0")
    return folder


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def bootstrap(script: str, machine: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Run a bootstrap script as it would run in a checkout at `root`."""
    shutil.copytree(ROOT / "scripts" / "bootstrap", root / "scripts" / "bootstrap")
    shutil.copy(ROOT / "requirements.lock", root)
    return subprocess.run(
        ["sh", str(root / "scripts" / "bootstrap" / script)],
        env={"PATH": str(machine)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_missing_java_is_named_to_who_is_not_root(machine: Path, tmp_path: Path) -> None:
    done = bootstrap("setup.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: missing for Spark: default-jre-headless "
        "(not root: run 'apt-get install default-jre-headless' as root, then again)\n"
    )


def test_missing_java_is_named_where_there_is_no_apt(machine: Path, tmp_path: Path) -> None:
    (machine / "apt-get").unlink()
    done = bootstrap("setup.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: missing for Spark: default-jre-headless "
        "(this is no Debian: install them by hand)\n"
    )


def test_java_too_old_is_refused_with_its_version(machine: Path, tmp_path: Path) -> None:
    program(machine / "java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
    done = bootstrap("setup.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr == "bootstrap: java on PATH is version 11, Spark needs 17 or later\n"


def test_package_that_apt_cannot_install_is_named(machine: Path, tmp_path: Path) -> None:
    program(machine / "id", "echo 0")
    program(machine / "apt-get", "echo 'E: Unable to locate package'; exit 100")
    done = bootstrap("setup.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: apt-get could not install default-jre-headless for Spark: "
        "E: Unable to locate package\n"
    )


def test_engine_before_setup_is_refused(machine: Path, tmp_path: Path) -> None:
    done = bootstrap("docker.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr.endswith(".venv/bin/python: run 'make setup' first\n")


def test_no_engine_is_told_to_who_is_not_root(machine: Path, tmp_path: Path) -> None:
    python = tmp_path / "checkout" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    program(python, "exit 1")
    done = bootstrap("docker.sh", machine, tmp_path / "checkout")
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: no Docker engine answers at its default socket, and only root can start one\n"
    )
