"""Bugs that are planted in the server, the shell, the storage and the wire; see planted.py."""

import ssl
from typing import Any

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.server import connection, listener
from kraftproof.node.server.connection import Connection
from kraftproof.node.server.idle_connections import IdleConnections
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.security.authentication import Authenticator
from kraftproof.node.server.security.tls_layer import TlsLayer
from kraftproof.node.shell import (
    effect_executor,
    failed_logs,
    flush_queue,
    peer_lanes,
    request_clock,
    requests_in_flight,
)
from kraftproof.node.shell.partition_executor import PartitionExecutor
from kraftproof.node.storage import (
    checkpoints,
    epochs,
    filesystem,
    meta_properties,
    quorum_state,
    snapshots,
    stored,
)
from kraftproof.node.storage.disk import Disk, DiskHandle
from kraftproof.node.storage.partitions import (
    log_directory,
    partition_log,
    partition_logs,
    timestamps,
)
from kraftproof.node.storage.segments import headers as headers_of_files
from kraftproof.node.storage.segments import sparse_index
from kraftproof.node.storage.segments.segment import Segment
from kraftproof.node.storage.segments.segmented_log import SegmentedLog
from kraftproof.node.wire import codec, errors, frames, headers
from kraftproof.node.wire.frames import FrameSplitter
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.records import batches, raw_batch, raw_records


def ignored(*_: object, **__: object) -> None:
    """Stand for a method that does nothing."""


def _taken_from_any_connection(lane: Any, _: object, number: int, read: object) -> None:
    """Take an answer of a connection that was given up as an answer of the present one."""
    if not lane._in_flight.answer(number, read):
        lane.drop()


def _replaced_with_the_rest(disk: Any, path: str, data: bytes) -> None:
    """Replace a file, without a look at the file that an interrupted replacement has left."""
    handle = disk.append_to(f"{path}.tmp")
    handle.write(data)
    handle.start_fsync()()
    handle.close()
    filesystem._publish(disk, f"{path}.tmp", path)


def _cut_before_the_checkpoint(storage: Any, effect: Any) -> None:
    """Truncate the log before its durable end is lowered."""
    storage._log.truncate(effect.end_offset)
    storage._checkpoints.lower(effect.end_offset)


def _installed_after_the_reset(storage: Any, effect: Any) -> None:
    """Remove the log before the snapshot of the leader stands in its place."""
    storage._checkpoints.lower(effect.snapshot.end_offset)
    storage._log.reset(effect.snapshot)
    storage._snapshots.install(effect.copy, effect.snapshot)


def _deleted_before_the_look_up(executor: Any, effect: Any) -> None:
    """Look up the directory of a log after the disk has let go of the log."""
    steps = executor._disk.delete(effect)
    failed = executor._failure_of(executor._disk.directory_of(effect.log))
    executor._workers.background(steps, ignored, failed)


def _limited_anew(connection: Any, size: int) -> None:
    """Forget the bytes behind the end of a login."""
    connection._splitter = FrameSplitter(size)


def _read_with_the_next_bytes(layer: Any, data: bytes) -> None:
    """Leave the bytes behind a handshake until more bytes come."""
    layer._incoming.write(data)
    try:
        if layer._is_secured:
            layer._read()
        else:
            layer._shake_hands()
    except ssl.SSLWantReadError:
        layer._send()
    except ssl.SSLError as error:
        layer._fail(error)


PLANTED = [
    ("compare_tables", errors, "error_name", lambda code: f"error {code}"),
    ("compare_primitives", Reader, "skip_tags", ignored),
    ("compare_primitives", Writer, "string", Writer.compact_string),
    ("compare_headers", headers, "encode_response_header", lambda number, _: number.to_bytes(4)),
    ("compare_headers", frames.FrameSplitter, "limit_to", lambda self, _: self.feed(b"\0")),
    ("compare_messages", codec, "header_versions", lambda *_: (1, 0)),
    ("compare_messages", codec, "decode_response", codec.decode_request),
    ("compare_metadata_batches", batches, "_sound_batch_in", lambda _: False),
    ("compare_raw_batches", raw_batch.RawBatch, "stamped", lambda self, _: self),
    ("compare_raw_records", raw_records, "_header_count", lambda record: max(record.varint(), 0)),
    ("compare_identity_files", meta_properties, "is_reserved", lambda _: False),
    ("compare_identity_files", quorum_state, "read_quorum_state", lambda *_: QuorumState()),
    ("compare_offset_files", checkpoints.OffsetCheckpoints, "lower", ignored),
    ("compare_offset_files", filesystem, "replace_durably", _replaced_with_the_rest),
    ("compare_epoch_files", epochs.EpochCheckpoint, "_refuse_contradiction", ignored),
    ("compare_epoch_files", epochs.EpochCheckpoint, "truncated", ignored),
    ("compare_real_disk", Disk, "lock", lambda self, path: self.append_to(path).close),
    ("compare_real_disk", Disk, "exists", lambda self, path: path in self.list_directory("/")),
    ("compare_real_disk", DiskHandle, "truncate", ignored),
    ("compare_metadata_logs", SegmentedLog, "_remove_below", ignored),
    ("compare_metadata_logs", Segment, "write_again", lambda self: self.cut(0)),
    ("compare_snapshots", snapshots.SnapshotFiles, "remove_unfinished", ignored),
    ("compare_snapshots", snapshots.SnapshotFiles, "remove_below", ignored),
    ("compare_interruptions", stored.Storage, "truncate", _cut_before_the_checkpoint),
    ("compare_interruptions", stored.Storage, "install_snapshot", _installed_after_the_reset),
    ("compare_node_storage", stored.Storage, "persist_quorum_state", ignored),
    ("compare_node_storage", checkpoints.OffsetCheckpoints, "lower", ignored),
    ("compare_partition_logs", log_directory.LogDirectory, "lower_start", ignored),
    ("compare_partition_logs", timestamps, "_find_newest", timestamps.find_timestamp),
    ("compare_partition_logs", partition_log.PartitionLog, "note_epoch", ignored),
    ("compare_segments", sparse_index.SparseIndex, "truncate", ignored),
    ("compare_segments", headers_of_files, "parse_batch", ignored),
    ("compare_segments", Segment, "_remember", lambda self, at, _: self._read_ends.update({at: 0})),
    ("compare_connections", Connection, "_unmute", ignored),
    ("compare_connections", Connection, "note_reading", ignored),
    ("compare_connections", connection, "MAX_IN_FLIGHT", 101),
    ("compare_listeners", Listener, "_proven", ignored),
    ("compare_listeners", Connection, "limit_frames", _limited_anew),
    ("compare_tls_streams", TlsLayer, "data_received", _read_with_the_next_bytes),
    ("compare_tls_streams", TlsLayer, "connection_lost", ignored),
    ("compare_listeners", Listener, "_make_room", lambda _: False),
    ("compare_listeners", listener, "PROVING_SECONDS", 29.0),
    ("compare_listeners", IdleConnections, "start", ignored),
    ("compare_listeners", Authenticator, "_begin_again", ignored),
    ("compare_shell", flush_queue.FlushQueue, "request", lambda self, _: self._start()),
    ("compare_shell", peer_lanes.Lane, "ended", ignored),
    ("compare_shell", peer_lanes.Lane, "answered", _taken_from_any_connection),
    ("compare_shell", peer_lanes, "_FETCHES", frozenset()),
    ("compare_shell", flush_queue.FlushQueue, "close", ignored),
    ("compare_shell", requests_in_flight.RequestsInFlight, "_set_timer", ignored),
    ("compare_shell", effect_executor.EffectExecutor, "_flushes_done", ignored),
    ("compare_shell_requests", request_clock.RequestClock, "resume", ignored),
    ("compare_shell_directories", failed_logs.FailedLogs, "has", lambda *_: False),
    ("compare_failing_directories", PartitionExecutor, "_delete", _deleted_before_the_look_up),
    ("compare_failing_directories", PartitionExecutor, "_drop", ignored),
    ("compare_failing_directories", PartitionExecutor, "_fail_once", PartitionExecutor._fail),
    ("compare_shell_directories", PartitionExecutor, "_fail_once", PartitionExecutor._fail),
    ("compare_partition_logs", partition_logs, "MOST_OPEN", 257),
    ("compare_partition_logs", Segment, "write_again", Segment.close),
    ("compare_metadata_logs", Segment, "close", ignored),
    ("compare_node_storage", stored.Stored, "configured", lambda _, config: config),
    ("compare_node_storage", checkpoints.OffsetCheckpoints, "lower", ignored),
    ("compare_partition_damage", Segment, "cut", ignored),
    ("compare_partition_logs", log_directory.LogDirectory, "_forget", ignored),
]
