"""Replay metadata for the shell: a snapshot file, a segment of a log, or a live quorum.

A live source asks the leader of the quorum as a consumer, which counts as no replica (595-54). If
the log begins after offset 0, the source asks once as an observer for the id of the snapshot.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Final

from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot, SnapshotError, load
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.tools.client import Address, Client, ClientError, Unreachable
from kraftproof.node.tools.command_config import CommandConfig
from kraftproof.node.tools.log_file import Damage, read_segment
from kraftproof.node.tools.metadata_shell.tree import Folder, tree_of
from kraftproof.node.wire.errors import ErrorCode, WireError, error_name
from kraftproof.node.wire.fetched_records import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    with_metadata_batches,
)
from kraftproof.node.wire.messages import (
    describe_cluster_request,
    describe_cluster_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches

SLICE_BYTES: Final = 1024 * 1024
CONTROLLERS: Final = 2
MS_PER_S: Final = 1000
CONSUMER: Final = -1
OBSERVER: Final = 2**31 - 2
"""The replica id of the single question for a snapshot; no node has this id."""
_SNAPSHOT_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class Replay:
    """An image with the position of its last record."""

    def __init__(self) -> None:
        self._newest: MetadataImage = EMPTY_IMAGE
        self.end_offset = 0
        self.epoch = 0
        self.timestamp_ms = 0

    def tree(self) -> Folder:
        """Return the tree of the image; changes of an open transaction are not shown."""
        return tree_of(
            self._newest.shown,
            offset=self.end_offset - 1,
            epoch=self.epoch,
            timestamp_ms=self.timestamp_ms,
        )

    def load(self, snapshot: LoadedSnapshot) -> None:
        """Take the content of a snapshot."""
        self._newest = snapshot.image
        self.end_offset = snapshot.stored.snapshot.end_offset
        self.epoch = snapshot.stored.snapshot.epoch
        self.timestamp_ms = snapshot.timestamp_ms

    def add(self, batches: Iterable[Batch]) -> None:
        """Apply batches.

        Raises:
            ClientError: a batch does not fit the batches before.
        """
        for batch in batches:
            if batch.next_offset <= self.end_offset:
                continue
            try:
                self._newest = apply_batch(self._newest, batch)
            except ApplyError as error:
                raise ClientError(f"the batch at offset {batch.base_offset}: {error}") from error
            self.end_offset, self.epoch = batch.next_offset, batch.epoch
            self.timestamp_ms = batch.timestamp_ms


def replay_file(files: FileSystem, path: str) -> tuple[Replay, str | None]:
    """Return the replay of a snapshot or of a segment, and the damage that ended the reading.

    Raises:
        ClientError: the file is neither.
    """
    try:
        data = files.read(path)
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from error
    replay = Replay()
    named = _SNAPSHOT_NAME.fullmatch(PurePath(path).name)
    try:
        if path.endswith(".checkpoint"):
            batches = decode_batches(data)
            end = Offset(int(named[1])) if named else Offset(batches[-1].next_offset)
            epoch = Epoch(int(named[2])) if named else Epoch(batches[-1].epoch)
            snapshot = SnapshotId(end_offset=end, epoch=epoch)
            replay.load(load(StoredSnapshot(snapshot=snapshot, size=len(data)), batches))
            return replay, None
        for part in read_segment(data):
            if isinstance(part, Damage):
                return replay, part.reason
            replay.add((part.batch,))
    except (WireError, SnapshotError, ClientError, IndexError) as error:
        raise ClientError(f"{path}: {str(error) or 'is empty'}") from error
    return replay, None


class LiveSource:
    """The metadata log of a running quorum."""

    def __init__(self, addresses: Sequence[Address], config: CommandConfig) -> None:
        self._addresses = addresses
        self._timeout_s = config.timeout_ms / MS_PER_S
        self._security = config.security
        self.replay = Replay()

    def refresh(self) -> None:
        """Replay what has committed since the last time.

        Raises:
            ClientError: no controller answers, or the quorum has no leader.
        """
        with Client(self._leader(), self._timeout_s, self._security) as leader:
            while True:
                partition = _fetch(leader, self.replay.end_offset, CONSUMER)
                if partition.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    self.replay.load(_download(leader, self.replay.end_offset))
                    continue
                _check(leader, partition.error_code)
                batches = [
                    batch
                    for batch in partition.records or ()
                    if isinstance(batch, Batch) and batch.next_offset <= partition.high_watermark
                ]
                was = self.replay.end_offset
                self.replay.add(batches)
                if self.replay.end_offset in {was, partition.high_watermark}:
                    return

    def _leader(self) -> Address:
        problem = ClientError("no address was given")
        for address in self._addresses:
            try:
                with Client(address, self._timeout_s, self._security) as client:
                    return _leader_at(client)
            except Unreachable as error:
                problem = error
        raise problem


def _leader_at(client: Client) -> Address:
    request = describe_cluster_request.DescribeClusterRequest(endpoint_type=CONTROLLERS)
    answer = client.ask(request)
    assert isinstance(answer, describe_cluster_response.DescribeClusterResponse)
    _check(client, answer.error_code)
    for node in answer.brokers:
        if node.broker_id == answer.controller_id:
            return Address(node.host, node.port)
    raise ClientError(f"{client.address}: the quorum has no leader")


def _fetch(client: Client, offset: int, replica_id: int) -> fetch_response.PartitionData:
    state = fetch_request.ReplicaState(replica_id=replica_id)
    partition = fetch_request.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=SLICE_BYTES
    )
    topic = fetch_request.FetchTopic(
        topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=(partition,)
    )
    request = fetch_request.FetchRequest(
        replica_state=state, max_bytes=SLICE_BYTES, max_wait_ms=0, topics=(topic,)
    )
    answer = client.ask(request)
    assert isinstance(answer, fetch_response.FetchResponse)
    _check(client, answer.error_code)
    answer = with_metadata_batches(answer)
    found = [partition for topic in answer.responses for partition in topic.partitions]
    if len(found) != 1:
        raise ClientError(f"{client.address}: an answer about {len(found)} partitions")
    return found[0]


def _download(client: Client, offset: int) -> LoadedSnapshot:
    """Return the newest snapshot of the leader."""
    partition = _fetch(client, offset, OBSERVER)
    _check(client, partition.error_code)
    wanted = partition.snapshot_id
    if wanted.end_offset <= offset:
        raise ClientError(f"{client.address}: offset {offset} is gone, and no snapshot is named")
    module = fetch_snapshot_request
    data = b""
    while True:
        asked = module.PartitionSnapshot(
            partition=0,
            current_leader_epoch=partition.current_leader.leader_epoch,
            snapshot_id=module.SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch),
            position=len(data),
        )
        topic = module.TopicSnapshot(name=METADATA_TOPIC, partitions=(asked,))
        answer = client.ask(
            module.FetchSnapshotRequest(replica_id=OBSERVER, max_bytes=SLICE_BYTES, topics=(topic,))
        )
        assert isinstance(answer, fetch_snapshot_response.FetchSnapshotResponse)
        _check(client, answer.error_code)
        (part,) = (part for topic in answer.topics for part in topic.partitions)
        _check(client, part.error_code)
        data += bytes(part.unaligned_records)
        if len(data) >= part.size:
            break
    snapshot = SnapshotId(end_offset=Offset(wanted.end_offset), epoch=Epoch(wanted.epoch))
    try:
        return load(StoredSnapshot(snapshot=snapshot, size=len(data)), decode_batches(data))
    except (WireError, SnapshotError) as error:
        raise ClientError(f"{client.address}: snapshot {wanted.end_offset}: {error}") from error


def _check(client: Client, error_code: int) -> None:
    if error_code != ErrorCode.NONE:
        raise ClientError(f"{client.address}: {error_name(error_code)}")
