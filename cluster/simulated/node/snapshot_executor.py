"""How a process carries out its effects about snapshots, on the simulated disk (KIP-630).

What a server does in a thread is done here step by step, with time in between: a life may end
between any two. Not: the order and the barriers (process.py).
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from kraftproof.cluster.simulated.invariants.invariant import Observed
from kraftproof.cluster.simulated.node.environment import Surroundings
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.effects import (
    CheckSnapshot,
    CleanLog,
    InstallSnapshot,
    ReplyWithSlice,
    StoreSlice,
    WriteSnapshot,
)
from kraftproof.node.core.events import Event, SnapshotChecked, SnapshotWritten
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.storage.stored import Storage
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse

T = TypeVar("T")


class SnapshotHands:
    """One process's snapshots: written, copied, installed, removed."""

    def __init__(
        self,
        process: Observed,
        around: Surroundings,
        storage: Storage,
        *,
        take: Callable[[Event], None],
        when_running: Callable[[Callable[[], None]], None],
    ) -> None:
        self.does: Mapping[type, Callable[[Any], None]] = {
            WriteSnapshot: self._write,
            StoreSlice: self._store,
            CheckSnapshot: self._check,
            InstallSnapshot: self._install,
            CleanLog: self._clean,
        }
        self._process = process
        self._around = around
        self._storage = storage
        self._take = take
        self._when_running = when_running
        self._is_closed = False
        self._checked: LoadedSnapshot | None = None

    def close(self) -> None:
        """Leave undone what is not done yet."""
        self._is_closed = True

    def _write(self, effect: WriteSnapshot) -> None:
        for snapshotted in self._around.jury.on_snapshotted:
            snapshotted(self._process, effect.snapshot, effect.image)

        def written(stored: StoredSnapshot) -> Event:
            for completed in self._around.jury.on_completed:
                completed(self._process, stored, lambda: self._read(stored))
            return SnapshotWritten(stored)

        self._run(self._storage.write_snapshot(effect), written)

    def _read(self, stored: StoredSnapshot) -> bytes:
        """Return the file as whoever fetches the snapshot would be sent it."""
        return self._storage.read_slice(
            ReplyWithSlice(
                request=0,
                message=FetchSnapshotResponse(),
                snapshot=stored.snapshot,
                position=0,
                max_bytes=stored.size,
            )
        )

    def _store(self, effect: StoreSlice) -> None:
        self._storage.store_slice(effect)
        self._around.on_next_write()

    def _check(self, effect: CheckSnapshot) -> None:
        def checked(event: SnapshotChecked) -> Event:
            self._checked = event.loaded
            return event

        self._run(self._storage.check_snapshot(effect), checked)

    def _install(self, effect: InstallSnapshot) -> None:
        loaded = self._checked
        assert loaded is not None, "what is installed has been checked"
        self._storage.install_snapshot(effect)
        self._around.log.reset(effect.snapshot)
        self._around.log.snapshots = self._storage.snapshots
        for told in self._around.jury.on_loaded:
            told(self._process, effect.snapshot, loaded.image)

    def _clean(self, effect: CleanLog) -> None:
        self._storage.clean(effect)
        self._around.log.clean(effect.start)
        self._around.log.snapshots = self._storage.snapshots
        for cleaned in self._around.jury.on_cleaned:
            cleaned(self._process)

    def _run(self, steps: Generator[None, None, T], event: Callable[[T], Event]) -> None:
        """Take one step after the other, each as long as an fsync takes."""
        scheduler, around = self._around.scheduler, self._around

        def step() -> None:
            if self._is_closed:
                steps.close()
                return
            try:
                next(steps)
            except StopIteration as stop:
                self._take(event(stop.value))
                return
            except OSError as error:
                around.on_disk_error(self._process, error)
                return
            around.on_next_write()
            later()

        def later() -> None:
            scheduler.after(around.fsync_ns(), lambda: self._when_running(step))

        later()
