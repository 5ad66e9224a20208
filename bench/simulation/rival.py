"""Kafka's own simulation of Raft, as published: its test jar, run by a small program of ours.

Maven fetches what rival/pom.xml names; our two classes, one that runs the test's properties and one
that counts its virtual time, are compiled beside it. All lies in the cache.
"""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).resolve().parent / "rival"
MAIN: Final = "org.apache.kafka.raft.SimulationSpeed"
WARM_UP_S: Final = 15.0
_SECONDS: Final = 600


class RivalError(Exception):
    """It can't be built or run; the message is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalRun:
    """One run of Kafka's simulation.

    Attributes:
        simulated_s: by how much the clocks of its clusters were moved.
        cpu_s: of the process, the start of its Java machine included.
        warm_simulated_s: the same after the first `WARM_UP_S` CPU-seconds.
        warm_cpu_s: the same.
        properties: how many properties the test has.
        runs: number of executed runs.
        failed: number of failed runs.
    """

    simulated_s: float
    cpu_s: float
    warm_simulated_s: float
    warm_cpu_s: float
    properties: int
    runs: int
    failed: int

    @property
    def speed(self) -> float:
        """Simulated seconds a CPU-second."""
        return self.simulated_s / self.cpu_s

    @property
    def warm_speed(self) -> float:
        """The same without the start."""
        return self.warm_simulated_s / self.warm_cpu_s


def build(cache: Path) -> Path:
    """Fetches and compiles; returns the folder.

    Raises:
        RivalError: Maven or Java is not there, or fails.
    """
    folder = cache / "raft-simulation"
    jars = folder / "libs"
    command = ["mvn", "-q", "-B", "-f", str(SOURCES / "pom.xml"), "dependency:copy-dependencies"]
    _run([*command, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"])
    sources = sorted(str(path) for path in SOURCES.rglob("*.java"))
    _run(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", str(folder / "classes"), *sources])
    return folder


def measure(folder: Path, seed: int, cpu_s: float) -> RivalRun:
    """Run the simulation for the given CPU seconds.

    Raises:
        RivalError: it fails.
    """
    path = f"{folder}/classes:{folder}/libs/*"
    output = _run(["java", "-cp", path, MAIN, str(seed), str(cpu_s), str(WARM_UP_S)])
    return RivalRun(**json.loads(output.splitlines()[-1]))


def _run(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        raise RivalError(f"{command[0]}: not found: it makes Kafka's simulation; install it")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise RivalError(f"{command[0]}: took more than {_SECONDS} s") from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or error.stdout.strip() or "no reason given").splitlines()[-1]
        raise RivalError(f"{command[0]}: {last}") from error
    return done.stdout
