"""One host: commands of its agent, files sent and fetched, all over one connection.

The agent is the folder on_host/ with the limit of a node's output, sent as standard input of each
command. Paths are those of the host, which has Python 3 and a POSIX shell.
"""

import asyncio
import gzip
import json
import os
import shlex
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from kraftproof.cluster.remote import output_limit
from kraftproof.cluster.ssh.connection import DEADLINE_S, Connection, Done
from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.on_host import agent, keeper, packages, processes

BOOTSTRAP: Final = (
    "import json,sys,types; sys.version_info >= (3, 9) or sys.exit("
    "'Python %d.%d is too old, name 3.9 or newer by python' % sys.version_info[:2]); "
    "[exec(compile(s,n,'exec'),sys.modules.setdefault(n,types.ModuleType(n)).__dict__) "
    "for n,s in json.load(sys.stdin)]; "
    f"sys.modules['{agent.__name__}'].main(*sys.argv[1:])"
)
PATHS: Final = "PATH=$PATH:/usr/sbin:/sbin; export PATH; "
"""The login of a session without a terminal may have no folder of the administrator's tools."""
TICKS: Final = (
    "import time; [(print(time.monotonic_ns(), flush=True), time.sleep(0.01)) for _ in range(10)]"
)
NO_COMMAND: Final = 127
"""Exit status of a shell that does not find the command."""
BYTES_PER_S: Final = 1 << 20
"""Slowest transfer that is no failure."""


class Machine:
    """A host behind ssh."""

    def __init__(self, entry: HostEntry) -> None:
        self.entry = entry
        self.connection = Connection(entry)

    @property
    def name(self) -> str:
        """The name of the host in the file of hosts."""
        return self.entry.name

    async def agent(
        self,
        do: str,
        arguments: Mapping[str, object],
        *,
        as_root: bool = False,
        is_repeatable: bool = True,
        deadline_s: float = DEADLINE_S,
    ) -> dict[str, Any]:
        """Let the agent do a command, which has these arguments; return its answer.

        Raises:
            SshError: the host has no Python 3, sudo refuses, or the agent says what failed.
        """
        words = (self.entry.python, "-I", "-S", "-c", BOOTSTRAP, do, json.dumps(arguments))
        done = await self.run(
            words,
            sources(),
            as_root=as_root,
            is_repeatable=is_repeatable,
            deadline_s=deadline_s,
        )
        return self._answer(do, done, shlex.split(self.entry.sudo) if as_root else [])

    def _answer(self, do: str, done: Done, before: Sequence[str]) -> dict[str, Any]:
        said = done.output.decode(errors="replace").strip()
        last = said.splitlines()[-1] if said else f"exit status {done.status}"
        if done.status == NO_COMMAND and before:
            raise SshError(self.name, f"there is no {before[0]}: name another way by sudo")
        if done.status == NO_COMMAND:
            raise SshError(
                self.name,
                f"there is no {self.entry.python}: install Python 3, or name it by python",
            )
        doubt = f" (is {self.entry.python!r} a Python 3?)" if do == "probe" else ""
        if done.status:
            raise SshError(self.name, f"{do}: {last}{doubt}")
        try:
            answer: object = json.loads(last)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise SshError(self.name, f"{do}: {last}{doubt}")
        if "error" in answer:
            raise SshError(self.name, f"{do}: {answer['error']}")
        return answer

    async def run(
        self,
        words: Sequence[str],
        stdin: bytes = b"",
        *,
        as_root: bool = False,
        is_repeatable: bool = False,
        deadline_s: float = DEADLINE_S,
    ) -> Done:
        """Run a command, as root through the sudo of the host."""
        before = shlex.split(self.entry.sudo) if as_root else []
        return await self.connection.run(
            in_shell(shlex.join((*before, *words))),
            stdin,
            deadline_s=deadline_s,
            is_repeatable=is_repeatable,
        )

    async def put(self, path: Path, data: bytes) -> None:
        """Write a file whole, in place of an older one; its folder is made if need be.

        Raises:
            SshError: the file can't be written.
        """
        part = path.with_name(f".{path.name}.new")
        folder, whole, new = (shlex.quote(str(one)) for one in (path.parent, path, part))
        script = f"mkdir -p {folder} && cat > {new} && mv {new} {whole}"
        done = await self.connection.run(in_shell(script), data, is_repeatable=True)
        self._checked(done, f"write of {path}")

    async def make_directory(self, path: Path) -> None:
        """Make a directory and those above it.

        Raises:
            SshError: it can't be made.
        """
        done = await self.run(("mkdir", "-p", str(path)), is_repeatable=True)
        self._checked(done, f"directory {path}")

    async def upload(self, archive: Path, folder: str) -> None:
        """Unpack an archive of `pack` into a folder of the host.

        Raises:
            SshError: it can't be sent or unpacked.
        """
        into = shlex.quote(folder)
        script = f"mkdir -p {into} && tar -xzf - -C {into}"
        with archive.open("rb") as file:
            deadline_s = DEADLINE_S + os.fstat(file.fileno()).st_size / BYTES_PER_S
            done = await self.connection.run(in_shell(script), file, deadline_s=deadline_s)
        self._checked(done, f"upload to {folder}")

    async def download(self, folder: str, target: Path, *, deadline_s: float) -> None:
        """Copy a folder of the host over a folder here.

        Raises:
            SshError: it can't be read or fetched.
        """
        script = f"tar -czf - -C {shlex.quote(folder)} . 2>/dev/null"
        with tempfile.TemporaryFile() as archive:
            done = await self.connection.run(in_shell(script), sink=archive, deadline_s=deadline_s)
            # 1: a file changed while it was read, which a log does.
            if done.status > 1:
                raise SshError(self.name, f"{folder} can't be fetched: status {done.status}")
            await asyncio.to_thread(_unpack, archive, target)

    async def monotonic_offset_ns(self) -> int:
        """Return the monotonic clock of the host minus that of this machine, in ns.

        The estimate is too small by the shortest way of a packet from there, a few ms at most in a
        local network.
        """
        ticks = _Ticks()
        words = (self.entry.python, "-I", "-S", "-c", TICKS)
        line = in_shell(shlex.join(words))
        done = await self.connection.run(line, sink=ticks)
        if done.status or not ticks.offsets_ns:
            raise SshError(self.name, "the monotonic clock can't be read")
        return max(ticks.offsets_ns)

    def _checked(self, done: Done, what: str) -> None:
        if done.status:
            said = " ".join(done.output.decode(errors="replace").split())
            raise SshError(self.name, f"{what}: {said or f'exit status {done.status}'}")

    def close(self) -> None:
        """Give the connection up."""
        self.connection.close()


class _Ticks:
    """Compares each time that a host prints with the time of its arrival."""

    def __init__(self) -> None:
        self.offsets_ns: list[int] = []

    def write(self, data: bytes, /) -> None:
        """Take one or more whole lines, of which the last was printed last."""
        now_ns = time.monotonic_ns()
        if data.endswith(b"\n"):
            self.offsets_ns.append(int(data.split()[-1]) - now_ns)


@cache
def sources() -> bytes:
    """Return the modules of the agent with their names, in the order of their imports."""
    modules = (output_limit, processes, keeper, packages, agent)
    texts = [(one.__name__, Path(str(one.__file__)).read_text("utf-8")) for one in modules]
    return json.dumps(texts).encode()


def in_shell(script: str) -> str:
    """Return the command line that runs a POSIX script, whatever the login shell is."""
    return f"exec /bin/sh -c {shlex.quote(f'{PATHS}{script}')}"


def _unpack(archive: BinaryIO, target: Path) -> None:
    archive.seek(0)
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=archive, mode="r:gz") as files:
        files.extractall(target, filter="data")


def pack(folder: Path, archive: Path) -> None:
    """Write a folder's content into an archive; a link becomes a copy of its target."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", dereference=True) as files,
    ):
        for path in sorted(folder.iterdir()):
            files.add(path, arcname=str(PurePosixPath(path.name)))
