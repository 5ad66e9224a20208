"""Run `kraft-dump-log --files F,... --cluster-metadata-decoder`, like kafka-dump-log (KIP-631).

Files are segments and snapshots (KIP-630) of the metadata log. The log's records have neither
headers nor sequence numbers, and the output shows empty values.
"""

import json
import re
import sys
from typing import Final

from kraftproof.node.storage.disk import Disk
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.log_file import Damage, StoredBatch, read_segment
from kraftproof.node.tools.record_json import record_data, type_name
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.batches import record_layouts
from kraftproof.node.wire.records.control import (
    ControlRecord,
    KRaftVersion,
    LeaderChange,
    SnapshotFooter,
    SnapshotHeader,
    Voters,
)
from kraftproof.node.wire.records.record_values import RecordLayout

PROGRAM = "kraft-dump-log"
SNAPSHOT_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
CONTROL_NAMES: Final[dict[type[ControlRecord], str]] = {
    LeaderChange: "LeaderChange:",
    SnapshotHeader: "SnapshotHeader",
    SnapshotFooter: "SnapshotFooter",
    KRaftVersion: "KRaftVersion",
    Voters: "KRaftVoters",
}
"""The names in the output of Kafka's tool, including the single colon."""


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Print every file; return the exit status."""
    arguments = _parser().parse_args(argv)
    for path in str(arguments.files).split(","):
        try:
            data = Disk().read(path)
        except OSError as error:
            print_error(PROGRAM, f"{path}: {error.strerror}")
            return 1
        if not _dump(path, data, skip_metadata=bool(arguments.skip_record_metadata)):
            return 1
    return 0


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="Print the batches and records of log files.")
    parser.add_argument("--files", required=True, help="the segments, separated by commas")
    parser.add_argument(
        "--cluster-metadata-decoder",
        action="store_true",
        required=True,
        help="decode the metadata log's records",
    )
    parser.add_argument(
        "--skip-record-metadata", action="store_true", help="print records without their metadata"
    )
    return parser


def _dump(path: str, data: bytes, *, skip_metadata: bool) -> bool:
    print_line(f"Dumping {path}")
    print_line(_start(path.rpartition("/")[2]))
    for stored in read_segment(data):
        if isinstance(stored, Damage):
            print_error(PROGRAM, f"{path}: {stored.reason}")
            return False
        _dump_batch(stored, skip_metadata=skip_metadata)
    return True


def _start(name: str) -> str:
    """Return the first line of the output, derived from the file's name."""
    snapshot = SNAPSHOT_NAME.fullmatch(name)
    if snapshot is not None:
        return f"Snapshot end offset: {int(snapshot[1])}, epoch: {int(snapshot[2])}"
    offset = name.partition(".")[0]
    return f"Log starting offset: {int(offset) if offset.isdecimal() else 0}"


def _dump_batch(stored: StoredBatch, *, skip_metadata: bool) -> None:
    batch = stored.batch
    print_line(
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} "
        f"count: {len(batch.records)} baseSequence: -1 lastSequence: -1 producerId: -1 "
        f"producerEpoch: -1 partitionLeaderEpoch: {batch.epoch} isTransactional: false "
        f"isControl: {str(batch.is_control).lower()} deleteHorizonMs: OptionalLong.empty "
        f"position: {stored.position} CreateTime: {batch.timestamp_ms} size: {stored.size} "
        f"magic: 2 compresscodec: none crc: {stored.crc} isvalid: true"
    )
    offset = batch.base_offset
    for record, layout in zip(batch.records, record_layouts(stored.whole), strict=True):
        metadata = (
            f" offset: {offset} CreateTime: {batch.timestamp_ms} keySize: {layout.key_bytes} "
            f"valueSize: {layout.value_bytes} sequence: -1 headerKeys: []"
        )
        print_line(f"|{'' if skip_metadata else metadata} {_payload(record, layout)}")
        offset += 1


def _payload(record: Record, layout: RecordLayout) -> str:
    data = record_data(record, layout.version)
    if isinstance(record, ControlRecord):
        return f"{CONTROL_NAMES[type(record)]} {json.dumps(data, separators=(',', ':'))}"
    content = {"type": type_name(record), "version": layout.version, "data": data}
    return f"payload: {json.dumps(content, separators=(',', ':'))}"


if __name__ == "__main__":
    main()
