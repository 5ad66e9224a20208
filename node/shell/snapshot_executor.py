"""Snapshots: written and checked one at a time, in the order of the effects, beside the steps."""

from collections import deque
from collections.abc import Callable

from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.effects import CheckSnapshot, WriteSnapshot
from kraftproof.node.core.events import Event, SnapshotWritten
from kraftproof.node.shell.ports import Disk, Failed, Workers


class SnapshotExecutor:
    """Turns each WriteSnapshot and CheckSnapshot into its event."""

    __slots__ = ("_disk", "_is_busy", "_on_failure", "_post", "_waiting", "_workers")

    def __init__(
        self,
        disk: Disk,
        workers: Workers,
        *,
        post: Callable[[Event], None],
        on_failure: Failed,
    ) -> None:
        self._disk = disk
        self._workers = workers
        self._post = post
        self._on_failure = on_failure
        self._waiting: deque[WriteSnapshot | CheckSnapshot] = deque()
        self._is_busy = False

    def request(self, effect: WriteSnapshot | CheckSnapshot) -> None:
        """Begin now, or as soon as all snapshots before this one are done."""
        self._waiting.append(effect)
        if not self._is_busy:
            self._start()

    def close(self) -> None:
        """Begin no other snapshot: the node has ended."""
        self._waiting.clear()

    def _start(self) -> None:
        self._is_busy = True
        effect = self._waiting.popleft()
        if isinstance(effect, WriteSnapshot):
            self._write(effect)
        else:
            self._check(effect)

    def _write(self, effect: WriteSnapshot) -> None:
        def written(stored: StoredSnapshot) -> None:
            self._finish(SnapshotWritten(stored))

        self._workers.run(self._disk.write_snapshot(effect), written, self._on_failure)

    def _check(self, effect: CheckSnapshot) -> None:
        self._workers.run(self._disk.check_snapshot(effect), self._finish, self._on_failure)

    def _finish(self, event: Event) -> None:
        self._is_busy = False
        if self._waiting:
            self._start()
        self._post(event)
