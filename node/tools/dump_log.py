"""`kraft-dump-log --files F,... --cluster-metadata-decoder`, as kafka-dump-log (KIP-631).

Not: snapshots, indexes or the data plane's logs. Simplification: records carry no headers or
sequence numbers, and the key of a control record is not printed apart from its type.
"""

import json
import sys

from node.storage.disk import Disk
from node.tools.arguments import ToolParser, complain, tell
from node.tools.log_file import Damage, StoredBatch, read_segment
from node.tools.record_json import record_data, record_version, type_name
from node.wire.messages.batch import Record
from node.wire.messages.control import ControlRecord

PROGRAM = "kraft-dump-log"


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Print every file; return the exit status."""
    arguments = _parser().parse_args(argv)
    for path in str(arguments.files).split(","):
        try:
            data = Disk().read(path)
        except OSError as error:
            complain(PROGRAM, f"{path}: {error.strerror}")
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
    tell(f"Dumping {path}")
    name = path.rpartition("/")[2].partition(".")[0]
    tell(f"Log starting offset: {int(name) if name.isdecimal() else 0}")
    for stored in read_segment(data):
        if isinstance(stored, Damage):
            complain(PROGRAM, f"{path}: {stored.reason}")
            return False
        _dump_batch(stored, skip_metadata=skip_metadata)
    return True


def _dump_batch(stored: StoredBatch, *, skip_metadata: bool) -> None:
    batch = stored.batch
    tell(
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} "
        f"count: {len(batch.records)} baseSequence: -1 lastSequence: -1 producerId: -1 "
        f"producerEpoch: -1 partitionLeaderEpoch: {batch.epoch} isTransactional: false "
        f"isControl: {str(batch.is_control).lower()} deleteHorizonMs: OptionalLong.empty "
        f"position: {stored.position} CreateTime: {batch.timestamp_ms} size: {stored.size} "
        f"magic: 2 compresscodec: none crc: {stored.crc} isvalid: true"
    )
    for index, record in enumerate(batch.records):
        metadata = f" offset: {batch.base_offset + index} CreateTime: {batch.timestamp_ms}"
        tell(f"|{'' if skip_metadata else metadata} {_payload(record)}")


def _payload(record: Record) -> str:
    data = record_data(record)
    if isinstance(record, ControlRecord):
        return f"{type(record).__name__}: {json.dumps(data, separators=(',', ':'))}"
    content = {"type": type_name(record), "version": record_version(record), "data": data}
    return f"payload: {json.dumps(content, separators=(',', ':'))}"


if __name__ == "__main__":
    main()
