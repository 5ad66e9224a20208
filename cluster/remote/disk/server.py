"""The process of a node's disk, which answers the kernel and the harness.

`python -m kraftproof.cluster.remote.disk.server DIRECTORY REPORT SOURCE SEED ORIGIN` mounts a file
system over DIRECTORY and keeps the files below the mount. Commands and answers are lines of
JSON on standard input and output. The end of standard input, when the harness ends or dies,
unmounts. ORIGIN is the zero of the run's time on the monotonic clock.
"""

import heapq
import json
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.remote.disk import protocol
from kraftproof.cluster.remote.disk.mounts import attic_of, mount, unmount
from kraftproof.cluster.remote.disk.operations import Finish, Later, Operations
from kraftproof.cluster.remote.disk.report import Report
from kraftproof.cluster.remote.disk.tree import Inode, Tree
from kraftproof.cluster.remote.disk.undo import Range

NS_PER_MS: Final = 1_000_000
MAX_COMMAND_BYTES: Final = 1 << 16


class Server:
    """A mount with its faults and its undo logs."""

    def __init__(self, directory: str, report: Report, source: str, random: Random) -> None:
        self._directory = directory
        self._report = report
        self._attic = attic_of(Path(directory))
        self._source = source
        self._random = random
        self._faults = DiskFaults(random)
        below = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        self._backing = f"/proc/self/fd/{below}/."
        """The directory under the mount."""
        self._commands: dict[str, Callable[..., dict[str, Any]]] = {
            "add": self._add,
            "remove": self._remove,
            "state": self._state,
            "lose": self._lose,
            "settle": self._settle,
        }
        self._later: list[tuple[int, int, Finish]] = []
        self._count = 0
        self._input = b""
        self._mount()

    def _mount(self) -> None:
        self._tree = Tree(self._backing, self._attic)
        self._operations = Operations(self._tree, self._faults, self._report)
        self._kernel = mount(self._directory, self._source)

    def _unmount(self) -> None:
        """End the connection: the kernel drops its pages, clean or dirty."""
        unmount(self._directory)
        os.close(self._kernel)
        self._later.clear()

    def run(self) -> None:
        """Answer until standard input ends, then unmount without a loss."""
        _reply({"mounted": True})
        while self._wait():
            pass
        self._unmount()
        self._report.unmounted(self._unsynced())
        self._tree.close()

    def _wait(self) -> bool:
        """Answer the next requests; return False once standard input has ended."""
        poll = select.poll()
        poll.register(self._kernel, select.POLLIN)
        poll.register(sys.stdin.fileno(), select.POLLIN)
        ready = dict(poll.poll(self._patience_ms()))
        self._finish_due()
        if self._kernel in ready:
            self._answer_kernel(ready[self._kernel])
        return sys.stdin.fileno() not in ready or self._answer_harness()

    def _patience_ms(self) -> int | None:
        if not self._later:
            return None
        return max(0, self._later[0][0] - time.monotonic_ns()) // NS_PER_MS + 1

    def _finish_due(self) -> None:
        while self._later and self._later[0][0] <= time.monotonic_ns():
            _, _, finish = heapq.heappop(self._later)
            self._write(finish())

    def _answer_kernel(self, events: int) -> None:
        try:
            data = os.read(self._kernel, protocol.BUFFER_BYTES)
        except (BlockingIOError, FileNotFoundError, InterruptedError):
            return  # the request was interrupted before it could be read
        except OSError:
            if events & select.POLLERR:
                sys.exit(f"{self._directory}: somebody else has unmounted it")
            raise
        try:
            self._write(self._operations.handle(protocol.decode(data)))
        except Later as later:
            self._count += 1
            due = time.monotonic_ns() + later.delay_ns
            heapq.heappush(self._later, (due, self._count, later.finish))

    def _write(self, data: bytes | None) -> None:
        if data is None:
            return
        try:
            os.write(self._kernel, data)
        except FileNotFoundError:
            return  # the caller was killed meanwhile

    # Commands of the harness

    def _answer_harness(self) -> bool:
        data = os.read(sys.stdin.fileno(), MAX_COMMAND_BYTES)
        self._input += data
        *lines, self._input = self._input.split(b"\n")
        for line in lines:
            command = json.loads(line)
            _reply(self._commands[command.pop("do")](**command))
        return bool(data)

    def _add(self, fault: dict[str, Any]) -> dict[str, Any]:
        self._faults.faults.append(DiskFault(**fault))
        return {}

    def _remove(self, fault: dict[str, Any]) -> dict[str, Any]:
        present = DiskFault(**fault)
        if present in self._faults.faults:
            self._faults.faults.remove(present)
        return {}

    def _state(self) -> dict[str, Any]:
        """Return the counts of operations and of unsynced bytes."""
        return {
            "hits": self._faults.hits,
            "writes": self._operations.writes,
            "fsyncs": self._operations.fsyncs,
            "unsynced": sum(len(one.data) for _, one in self._unsynced()),
            "unsynced_names": self._tree.unsynced_names,
        }

    def _unsynced(self) -> list[tuple[str, Range]]:
        """Return the unsynced writes with the names of their files."""
        return [
            (file.name, Range(change.offset, change.data, change.time_ns))
            for file in self._tree.files()
            for change in file.unsynced.changes
            if change.data
        ]

    def _settle(self, until_ns: int) -> dict[str, Any]:
        """Make all changes up to a time durable, as if the whole disk had been synced then."""
        self._tree.sync_names(until_ns)
        for file in self._tree.files():
            durable = file.unsynced.sync(file.unsynced.reached(until_ns))
            if durable:
                self._report.synced(file.name, durable)
        return {}

    def _lose(self) -> dict[str, Any]:
        """Lose power: end the mount, undo unsynced changes, and mount anew."""
        self._unmount()
        before = {file: file.name for file in self._tree.files()}
        names = self._tree.lose_names(self._random)
        lost = [(name, self._whole(file)) for file, name in before.items() if file.name != name]
        for file in self._tree.files():
            found = self._lose_in(file)
            if before.get(file) == file.name:
                lost += [(file.name, one) for one in found]
        self._tree.close()
        self._mount()
        return {"lost": self._report.lost(lost, names)}

    def _lose_in(self, file: Inode) -> list[Range]:
        descriptor = os.open(self._tree.path(file), os.O_RDWR)
        try:
            return file.unsynced.lose(descriptor, self._random)
        finally:
            os.close(descriptor)

    def _whole(self, file: Inode) -> Range:
        """Return the whole content of a file with a lost name, synced or not."""
        times = [change.time_ns for change in file.unsynced.changes]
        data = Path(self._tree.path(file)).read_bytes()
        return Range(0, data, min(times, default=time.monotonic_ns()))


def _reply(answer: dict[str, Any]) -> None:
    os.write(sys.stdout.fileno(), json.dumps(answer).encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Mount, serve and unmount; an error is one line."""
    directory, path, source, seed, origin = arguments
    os.umask(0)
    try:
        server = Server(directory, Report(Path(path), int(origin)), source, Random(seed))
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    server.run()


if __name__ == "__main__":
    main(sys.argv[1:])
