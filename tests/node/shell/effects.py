"""Effects of every kind, as short as they can be."""

from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Exit,
    Flush,
    Forward,
    InstallSnapshot,
    PersistQuorumState,
    Reply,
    Send,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord

SECOND = 1_000_000_000
SNAPSHOT = SnapshotId(Offset(1), Epoch(1))
ANSWER = ApiVersionsResponse()
APPEND = Append(
    METADATA_LOG, Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(NoOpRecord(),))
)
PERSIST = PersistQuorumState(QuorumState())
TRUNCATE = Truncate(METADATA_LOG, Offset(0))
INSTALL = InstallSnapshot(copy=1, snapshot=SNAPSHOT)
CLEAN = CleanLog(SNAPSHOT)
WRITE = WriteSnapshot(snapshot=SNAPSHOT, image=EMPTY_IMAGE, timestamp_ms=0)
CHECK = CheckSnapshot(copy=1, snapshot=SNAPSHOT)
EXIT = Exit(status=0, reason="stopped")


def flush(end_offset):
    return Flush(log=METADATA_LOG, generation=1, end_offset=Offset(end_offset))


def reply(request):
    return Reply(request=request, message=ANSWER)


def send(correlation, destination=1, *, is_fetch=False, is_to_broker=False, timeout_ns=SECOND):
    return Send(
        destination=NodeId(destination),
        correlation=correlation,
        message=FetchRequest() if is_fetch else ApiVersionsRequest(),
        version=0,
        timeout_ns=timeout_ns,
        is_to_broker=is_to_broker,
    )


def forward(correlation, *, timeout_ns=5 * SECOND, connect_ns=SECOND):
    return Forward(
        destination=NodeId(1),
        correlation=correlation,
        message=CreateTopicsRequest(),
        version=7,
        principal=ANONYMOUS,
        client_host="127.0.0.1",
        timeout_ns=timeout_ns,
        connect_ns=connect_ns,
    )
