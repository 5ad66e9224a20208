"""A machine behind ssh on which one node of a run lives.

The run has a directory on the machine: node/ is the node's own, and the software lies beside it.
"""

import asyncio
import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from kraftproof.cluster.protocol import Address, ClusterError
from kraftproof.cluster.remote.clocks.node_clock import environment
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.output import OUTPUT_NAME, last_words
from kraftproof.cluster.ssh.connection import DEADLINE_S
from kraftproof.cluster.ssh.facts import HostFacts
from kraftproof.cluster.ssh.install import UPLOAD_FOLDER, Archives, install
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.machine import Machine, in_shell
from kraftproof.cluster.systems.deployment import Deployment

SET_UP_S: Final = 120.0
STOP_S: Final = 30.0
LOG_BYTES: Final = 1 << 26
"""Longest part of a log that is fetched at once while the node runs."""


BEGUN_ANEW: Final = 9
"""Exit status of the fetch of a log that is shorter than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a node is: on the host, and in the run directory of the harness."""

    run_directory: str
    files: Path
    harness: str
    """IP address of the harness as the host sees it; empty if unknown."""


class SshHost(Host):
    """A machine behind ssh, with a node deployed on the machine."""

    def __init__(
        self,
        machine: Machine,
        facts: HostFacts,
        place: Place,
        addresses: Mapping[str, Address],
        archives: Archives,
        monotonic_offset_ns: int,
    ) -> None:
        self.machine = machine
        self._facts = facts
        self._place = place
        self._addresses = addresses
        self._archives = archives
        self._monotonic_offset_ns = monotonic_offset_ns
        self._deployment: Deployment | None = None
        self._environment: dict[str, str] = {}

    @property
    @override
    def directory(self) -> Path:
        return Path(self._place.run_directory) / "node"

    @property
    @override
    def python(self) -> str:
        return self.machine.entry.python

    @property
    @override
    def uploads(self) -> Path | None:
        return Path(self._place.run_directory) / UPLOAD_FOLDER

    @property
    @override
    def trusted(self) -> tuple[str, ...]:
        source = f"-s {self._place.harness} " if self._place.harness else ""
        return (f"{source}-p tcp -m tcp --dport {self.machine.entry.port}",)

    @property
    @override
    def addresses(self) -> Mapping[str, Address]:
        return self._addresses

    @property
    @override
    def monotonic_offset_ns(self) -> int:
        return self._monotonic_offset_ns

    @override
    async def run(self, command: Sequence[str]) -> tuple[int, str]:
        done = await self.machine.run(command, as_root=True)
        return done.status, done.output.decode(errors="replace")

    @override
    async def run_python(self, script: str, *arguments: str) -> tuple[int, str]:
        words = (self.python, "-I", "-S", "-c", script, *arguments)
        done = await self.machine.run(words, is_repeatable=True)
        return done.status, done.output.decode(errors="replace")

    @override
    async def put(self, path: Path, data: bytes) -> None:
        await self.machine.put(path, data)

    @override
    async def make_directory(self, path: Path) -> None:
        await self.machine.make_directory(path)

    @override
    async def refresh(self) -> None:
        """Fetch what the node has appended to the logs outside of its data directories."""
        deployed = self._deployment
        if deployed is None:
            return
        names = (OUTPUT_NAME, *deployed.logs, *filter(None, (deployed.clock_log,)))
        await asyncio.gather(*(self._fetch_log(name) for name in names))

    async def _fetch_log(self, name: str) -> None:
        path = self._place.files / name
        have = await asyncio.to_thread(_size, path)
        source, tail = shlex.quote(str(self.directory / name)), io.BytesIO()
        script = (
            f"test -f {source} || exit 0; "
            f"if test $(wc -c <{source}) -lt {have}; then cat {source}; exit {BEGUN_ANEW}; fi; "
            f"tail -c +{have + 1} {source} | head -c {LOG_BYTES}"
        )
        done = await self.machine.connection.run(in_shell(script), sink=tail, is_repeatable=False)
        mode = "wb" if done.status == BEGUN_ANEW else "ab"
        await asyncio.to_thread(_append, path, tail.getvalue(), mode)

    @override
    async def deploy(self, deployment: Deployment) -> None:
        run = self._place.run_directory
        found = await install(self.machine, self._facts, run, deployment, self._archives)
        if deployment.wall_clock is not None and self._facts.libfaketime is not None:
            found |= environment(self.directory, self._facts.libfaketime)
        self._environment = {**found, **deployment.environment}
        self._deployment = deployment
        for command in deployment.setup:
            arguments = {"command": command, "environment": self._environment}
            told = await self._ask(
                "set_up", {**arguments, "timeout_s": SET_UP_S}, deadline_s=SET_UP_S + STOP_S
            )
            if told["status"]:
                await self.refresh()
                raise SshError(self.machine.name, f"set-up: {last_words(self._place.files)}")

    @override
    async def start(self) -> None:
        command = self._deployed.command
        await self._ask("start", {"command": command, "environment": self._environment})

    @override
    async def kill(self) -> None:
        await self._ask("kill")

    @override
    async def stop(self) -> None:
        await self._ask("stop", {"number": int(self._deployed.stop_signal)}, STOP_S)

    @override
    async def pause(self) -> None:
        await self._ask("pause")

    @override
    async def resume(self) -> None:
        await self._ask("resume")

    @override
    async def process_id(self) -> int | None:
        pid: int | None = (await self._ask("state"))["pid"]
        return pid

    @override
    async def exit_status(self) -> int | None:
        status: int | None = (await self._ask("state"))["exit_status"]
        return status

    @override
    async def is_paused(self) -> bool:
        return bool((await self._ask("state"))["paused"])

    async def _ask(
        self, do: str, arguments: Mapping[str, object] | None = None, deadline_s: float = DEADLINE_S
    ) -> dict[str, Any]:
        """Let the agent do a command with the run; all of them may be repeated."""
        told = {"directory": self._place.run_directory, **(arguments or {})}
        return await self.machine.agent(do, told, deadline_s=deadline_s)

    @property
    def _deployed(self) -> Deployment:
        if self._deployment is None:
            raise ClusterError(f"host {self.machine.name}: nothing is deployed there")
        return self._deployment


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _append(path: Path, data: bytes, mode: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.write(data)
