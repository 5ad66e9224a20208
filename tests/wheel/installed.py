"""An environment with nothing but the wheel and what it depends on, beside a user's project."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN_NAMES = ("node", "workloads", "images")
"""Packages of the user's project that are called as sub-packages of kraftproof are."""
SECONDS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The wheel in an environment of its own, and the folder of a user's project."""

    environment: Path
    project: Path

    @property
    def site_packages(self) -> Path:
        (found,) = self.environment.glob("lib/python3.*/site-packages")
        return found

    def kraftproof(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("kraftproof", *arguments)

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment in the project, without uv and this checkout."""
        binaries = self.environment / "bin"
        path = [
            one for one in os.environ["PATH"].split(os.pathsep) if not (Path(one) / "uv").exists()
        ]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [str(binaries / command), *arguments],
            cwd=self.project,
            env=kept | {"PATH": os.pathsep.join([str(binaries), *path])},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def install(folder: Path, *, extra: str = "", with_pip: bool = False) -> Installed:
    """Build the wheel, install it with its dependencies at the lock's versions, write a project."""
    environment, project = folder / "environment", folder / "project"
    succeed(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("*.whl")
    seed = ["--seed"] if with_pip else []
    succeed(uv(), "venv", "--quiet", *seed, "--python", sys.executable, str(environment))
    target = ["--python", str(environment / "bin" / "python")]
    lock = ["--constraints", str(ROOT / "requirements.lock")]
    succeed(uv(), "pip", "install", "--quiet", *target, *lock, f"{wheel}{extra}")
    wheel.unlink()
    for name in OWN_NAMES:
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(
            f'"""The user\'s own."""\n\nOWN = "my {name}"\n'
        )
    return Installed(environment=environment, project=project)


def succeed(*command: str) -> None:
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"


def uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found is not None, "uv is neither beside Python nor on PATH: run 'make setup'"
    return found
