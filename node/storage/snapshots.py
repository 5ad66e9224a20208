"""Store snapshot files, `<end offset>-<epoch>.checkpoint`, beside the log's segments (KIP-630).

A snapshot appears only as a complete file: temporary file, fsync, rename, fsync of the directory.
Long operations are generators of steps: a server runs the steps in a thread, and the simulator can
crash a node between two steps. See node/core/metadata/snapshot.py for the content, and
node/core/raft for the times of writes and removals.
"""

import re
from collections.abc import Generator
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import (
    LOG_BEGIN,
    SNAPSHOTS_KEPT,
    SnapshotId,
    StoredSnapshot,
)
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.snapshot import (
    LoadedSnapshot,
    SnapshotError,
    UnsupportedSnapshotError,
    batches_of,
    load,
)
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import AppendHandle, FileSystem, join
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batches import decode_batches, encode_batch

NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
PARTIAL: Final = ".part"
"""The suffix of incomplete files, which the next start removes."""


class Found(Struct, frozen=True, kw_only=True):
    """The snapshots found at a start."""

    kept: tuple[StoredSnapshot, ...]
    """The kept snapshots, oldest first; the last is `newest`."""
    newest: LoadedSnapshot | None
    refused: tuple[tuple[SnapshotId, str], ...]
    """Damaged newer snapshots, each with the reason."""


def snapshot_name(snapshot: SnapshotId) -> str:
    """Return the name of a snapshot's file."""
    return f"{snapshot.end_offset:020d}-{snapshot.epoch:010d}.checkpoint"


class SnapshotFiles:
    """The snapshots of a directory, and the current download."""

    __slots__ = ("_copy", "_copy_number", "_directory", "_filesystem", "_last_copy", "_start")

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._copy: AppendHandle | None = None
        self._copy_number = 0
        self._last_copy = ""
        self._start = LOG_BEGIN
        """The begin of the log: no older snapshot is written."""

    # Start

    def recover(self) -> Found:
        """Load the newest complete snapshot.

        Raises:
            StorageError: the snapshot holds a record that the node can't read.
        """
        if not self._filesystem.exists(self._directory):
            return Found(kept=(), newest=None, refused=())
        present, refused = self.present(), []
        newest: LoadedSnapshot | None = None
        while present and newest is None:
            try:
                newest = self._load(self._path(present[-1]), present[-1])
            except UnsupportedSnapshotError as error:
                raise StorageError(f"{self._path(present[-1])}: {error}") from error
            except (WireError, SnapshotError) as error:
                refused.append((present.pop(), f"no whole snapshot ({error})"))
        kept = tuple(
            StoredSnapshot(snapshot=snapshot, size=self._filesystem.size(self._path(snapshot)))
            for snapshot in present[-SNAPSHOTS_KEPT:]
        )
        return Found(kept=kept, newest=newest, refused=tuple(refused))

    def remove_unfinished(self) -> None:
        """Remove the incomplete files of an earlier run."""
        for name in self._filesystem.list_directory(self._directory):
            if name.endswith(PARTIAL):
                self._filesystem.remove(join(self._directory, name))

    def present(self) -> list[SnapshotId]:
        """Return the snapshots by name, oldest first, without Kafka's empty snapshot at 0."""
        matches = map(NAME.fullmatch, self._filesystem.list_directory(self._directory))
        found = [SnapshotId(Offset(int(m[1])), Epoch(int(m[2]))) for m in matches if m is not None]
        return sorted(snapshot for snapshot in found if snapshot.end_offset > 0)

    def _load(self, path: str, snapshot: SnapshotId) -> LoadedSnapshot:
        data = self._filesystem.read(path)
        batches = decode_batches(data)
        return load(StoredSnapshot(snapshot=snapshot, size=len(data)), batches)

    def _path(self, snapshot: SnapshotId) -> str:
        return join(self._directory, snapshot_name(snapshot))

    # Snapshots of this node

    def write(
        self, snapshot: SnapshotId, image: MetadataImage, timestamp_ms: int
    ) -> Generator[None, None, StoredSnapshot]:
        """Write a snapshot of an image; the file is complete and durable after the last step.

        A snapshot older than the begin of the log leaves no file: the leader's snapshot was
        installed before or during the write.
        """
        path = self._path(snapshot)
        if snapshot < self._start:
            return StoredSnapshot(snapshot=snapshot, size=0)
        handle = self._filesystem.append_to(path + PARTIAL)
        size = 0
        try:
            handle.truncate(0)
            for batch in batches_of(snapshot, image, timestamp_ms):
                data = encode_batch(batch)
                handle.write(data)
                size += len(data)
            yield
            handle.start_fsync()()
        finally:
            handle.close()
        yield
        if snapshot < self._start:
            self._filesystem.remove(path + PARTIAL)
            return StoredSnapshot(snapshot=snapshot, size=0)
        self._filesystem.replace(path + PARTIAL, path)
        yield
        self._filesystem.fsync_directory(self._directory)
        return StoredSnapshot(snapshot=snapshot, size=size)

    # Downloads

    def store(self, copy: int, snapshot: SnapshotId, position: int, data: bytes) -> None:
        """Write a slice of the leader's snapshot; position 0 begins a new download."""
        if position == 0:
            self._begin_copy(copy, self._copy_path(copy, snapshot))
        assert self._copy is not None, "a copy begins at position 0"
        self._copy.write(data)

    def _begin_copy(self, copy: int, path: str) -> None:
        """Begin a download, and remove the file of an earlier download."""
        self.close()
        if self._last_copy and self._filesystem.exists(self._last_copy):
            self._filesystem.remove(self._last_copy)
        self._last_copy = path
        self._copy_number = copy
        self._copy = self._filesystem.append_to(path)

    def check(self, copy: int, snapshot: SnapshotId) -> Generator[None, None, SnapshotChecked]:
        """Flush a download and load its snapshot.

        `loaded` is None for an incomplete file, and for a download that a later one has replaced
        before this check began.
        """
        if copy != self._copy_number:
            return SnapshotChecked(copy=copy, loaded=None)
        handle, self._copy = self._copy, None
        assert handle is not None, "a copy is checked when it is complete"
        path = self._copy_path(copy, snapshot)
        try:
            handle.start_fsync()()
        finally:
            handle.close()
        yield
        try:
            return SnapshotChecked(copy=copy, loaded=self._load(path, snapshot))
        except UnsupportedSnapshotError as error:
            reason = f"the leader's snapshot {snapshot_name(snapshot)}, {error}"
            return SnapshotChecked(copy=copy, loaded=None, unsupported=reason)
        except (WireError, SnapshotError, FileNotFoundError):
            return SnapshotChecked(copy=copy, loaded=None)

    def install(self, copy: int, snapshot: SnapshotId) -> None:
        """Rename a download to a snapshot, durably."""
        self._filesystem.replace(self._copy_path(copy, snapshot), self._path(snapshot))
        self._filesystem.fsync_directory(self._directory)

    def _copy_path(self, copy: int, snapshot: SnapshotId) -> str:
        return f"{self._path(snapshot)}.{copy}{PARTIAL}"

    # Common operations

    def read_slice(self, snapshot: SnapshotId, position: int, max_bytes: int) -> bytes:
        """Return a part of a snapshot's file."""
        return self._filesystem.read_slice(self._path(snapshot), position, max_bytes)

    def remove_below(self, start: SnapshotId) -> None:
        """Remove the snapshots older than `start`, and write no such snapshot from now on."""
        self._start = max(self._start, start)
        for snapshot in self.present():
            if snapshot < start:
                self._filesystem.remove(self._path(snapshot))

    def close(self) -> None:
        """Close the current download; the next start removes its file."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None
