"""Compare the files of snapshots with the steps of KIP-630, and the opened storage of a node."""

from collections.abc import Generator
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed, put
from kraftproof.cluster.simulated.differential.storage.open_files import CountedFileSystem
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    HEADER_BYTES,
    parse_fields,
    parse_records,
)
from kraftproof.cluster.simulated.differential.work import result_of
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.storage import bootstrap, voter_set
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.snapshots import SnapshotFiles, snapshot_name
from kraftproof.node.wire.records.generated.voters import Endpoint, Voter
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, PartitionRecord, TopicRecord
from kraftproof.node.wire.types import Uuid

DIRECTORY: Final = "/data/__cluster_metadata-0"
FIRST: Final = SnapshotId(Offset(10), Epoch(2))
SECOND: Final = SnapshotId(Offset(20), Epoch(3))
THIRD: Final = SnapshotId(Offset(30), Epoch(3))
PARTITION_VERSIONS: Final = {7: 0, 16: 0, 17: 1, 21: 1, 22: 1, 23: 2, 30: 2}
"""The version of a partition's record by levels of metadata.version, the first and last included"""


def compare_snapshots(random: Random) -> None:
    """Write, copy, install, damage and remove snapshots and first records.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    _compare_own(random)
    _compare_copies(random)
    _compare_recovery(random)
    _compare_bootstrap(random)
    _compare_voters(random)


def _disk() -> CountedFileSystem:
    disk = CountedFileSystem()
    for path in ("/data", DIRECTORY):
        disk.make_directory(path)
    for path in ("/", "/data"):
        disk.fsync_directory(path)
    return disk


def _image(random: Random, count: int = 3) -> MetadataImage:
    records = [
        TopicRecord(name=f"topic-{place}", topic_id=Uuid(b"\1" + random.randbytes(15)))
        for place in range(count)
    ]
    level = FeatureLevelRecord(name="metadata.version", feature_level=21)
    return apply_all(EMPTY_IMAGE, (level, *records))


def _path(snapshot: SnapshotId) -> str:
    return f"{DIRECTORY}/{snapshot.end_offset:020d}-{snapshot.epoch:010d}.checkpoint"


def _compare_own(random: Random) -> None:
    """Write a snapshot step by step; a crash leaves the whole file or none."""
    disk, image, time_ms = _disk(), _image(random), random.choice((0, 1 << 41))
    files = SnapshotFiles(disk, DIRECTORY)
    same("the name of a snapshot", f"{DIRECTORY}/{snapshot_name(FIRST)}", _path(FIRST))
    left = list[dict[str, bytes]]()

    def watched() -> Generator[None, None, StoredSnapshot]:
        steps = files.write(FIRST, image, time_ms)
        for _ in range(3):
            next(steps)
            left.extend(content_of(crashed(disk, random), DIRECTORY) for _ in range(2))
        return (yield from steps)

    stored = result_of(watched())
    data = disk.read(_path(FIRST))
    same("a stored snapshot", stored, StoredSnapshot(snapshot=FIRST, size=len(data)))
    check(
        "a finished snapshot is durable",
        content_of(crashed(disk, random), DIRECTORY) == {_path(FIRST): data},
    )
    for found in left:
        check("a snapshot is whole or not there", found.get(_path(FIRST), data) == data)
    position, offset, controls = 0, 0, list[bool]()
    while position < len(data):
        fields = parse_fields(data[position:])
        same("the offsets of a snapshot", fields["base_offset"], offset)
        same("the epoch of a snapshot", fields["epoch"], FIRST.epoch)
        controls.append(bool(fields["attributes"] & 0x20))
        position, offset = position + 12 + fields["length"], offset + fields["count"]
    same("the control batches of a snapshot", controls, [True, *controls[1:-1], True])
    check("the records of a snapshot", not any(controls[1:-1]) and len(controls) > 2)
    for begin, size in ((0, 10), (5, len(data)), (len(data), 5), (random.randrange(len(data)), 7)):
        found_slice = files.read_slice(FIRST, begin, size)
        same(f"{size} bytes from {begin}", found_slice, data[begin : begin + size])
    recovered = SnapshotFiles(disk, DIRECTORY).recover()
    check("a recovered image", recovered.newest is not None and recovered.newest.image == image)
    again = result_of(files.write(FIRST, image, time_ms))
    same("a snapshot that is written again", again, stored)
    disk.judge("", 0)


def _compare_copies(random: Random) -> None:
    """Copy snapshots of a leader: in slices, cut off, replaced, and damaged."""
    source, image = _disk(), _image(random)
    result_of(SnapshotFiles(source, DIRECTORY).write(SECOND, image, 5))
    data = source.read(_path(SECOND))
    disk = _disk()
    files, half = SnapshotFiles(disk, DIRECTORY), random.randrange(1, len(data))
    files.store(1, THIRD, 0, data[:half])
    files.store(2, SECOND, 0, data[:half])
    same("the files of a copy", len(disk.list_directory(DIRECTORY)), 1)
    files.store(2, SECOND, half, data[half:])
    same("no snapshot during a copy", files.present(), [])
    late = result_of(files.check(1, THIRD))
    same("a replaced copy", (late.copy, late.loaded, late.unsupported), (1, None, None))
    found = result_of(files.check(2, SECOND))
    check("a whole copy", found.copy == 2 and found.loaded is not None)
    if found.loaded is not None:
        check("the image of a copy", found.loaded.image == image)
        same(
            "the size of a copy",
            found.loaded.stored,
            StoredSnapshot(snapshot=SECOND, size=len(data)),
        )
    (copy,) = disk.list_directory(DIRECTORY)
    check("a checked copy is durable", disk.is_file_synced(f"{DIRECTORY}/{copy}"))
    disk.judge("", 0)
    files.install(2, SECOND)
    after = content_of(crashed(disk, random), DIRECTORY)
    check("an installed copy is durable", after == {_path(SECOND): data})
    for number, wrong in (
        (3, data[:-1]),
        (4, data[:half]),
        (5, bytes(5)),
        (6, _flipped(data, random)),
    ):
        files.store(number, THIRD, 0, wrong)
        one = result_of(files.check(number, THIRD))
        same(f"a damaged copy {number}", (one.copy, one.loaded), (number, None))
    files.close()
    disk.judge("", 0)
    put(disk, f"{DIRECTORY}/other.checkpoint", b"x")
    put(disk, f"{DIRECTORY}/{0:020d}-{0:010d}.checkpoint", b"x")
    SnapshotFiles(disk, DIRECTORY).remove_unfinished()
    names = [one for one in disk.list_directory(DIRECTORY) if one.endswith(".part")]
    same("unfinished files", names, [])
    same("the snapshots of a directory", files.present(), [SECOND])


def _flipped(data: bytes, random: Random) -> bytes:
    """Return a file with a flipped bit that the CRC of the first batch covers."""
    changed, end = bytearray(data), 12 + parse_fields(data)["length"]
    changed[random.randrange(21, end)] ^= 1
    return bytes(changed)


def _compare_recovery(random: Random) -> None:
    """Find the newest whole snapshot among damaged ones, and remove old ones."""
    disk, image = _disk(), _image(random)
    files = SnapshotFiles(disk, DIRECTORY)
    for snapshot in (FIRST, SECOND, THIRD):
        result_of(files.write(snapshot, image, 5))
    size = disk.size(_path(FIRST))
    found = SnapshotFiles(disk, DIRECTORY).recover()
    same("kept snapshots", [one.snapshot for one in found.kept], [SECOND, THIRD])
    same("sizes of snapshots", {one.size for one in found.kept}, {size})
    same("no damaged snapshot", found.refused, ())
    put(disk, _path(THIRD), _flipped(disk.read(_path(THIRD)), random))
    found = SnapshotFiles(disk, DIRECTORY).recover()
    same("snapshots below a damaged one", [one.snapshot for one in found.kept], [FIRST, SECOND])
    same("damaged snapshots", [one for one, _ in found.refused], [THIRD])
    check(
        "the newest whole snapshot",
        found.newest is not None and found.newest.stored.snapshot == SECOND,
    )
    files.remove_below(SECOND)
    same("snapshots after a removal", files.present(), [SECOND, THIRD])
    missing = SnapshotFiles(disk, "/data/none").recover()
    same("no directory", (missing.kept, missing.newest, missing.refused), ((), None, ()))


def _compare_bootstrap(random: Random) -> None:
    """Write and read the first records of a cluster."""
    disk, path = _disk(), "/data/bootstrap.checkpoint"
    read = bootstrap.read_bootstrap
    same("no first records", read(disk, "/data"), bootstrap.FirstRecords())
    number = random.choice(tuple(PARTITION_VERSIONS))
    level = FeatureLevelRecord(name="metadata.version", feature_level=number)
    topic = TopicRecord(name="a", topic_id=Uuid(b"\1" + random.randbytes(15)))
    partition = PartitionRecord(topic_id=topic.topic_id, replicas=(1,), isr=(1,), leader=1)
    bootstrap.write_bootstrap(disk, "/data", (level, topic, partition), 7)
    after = crashed(disk, random)
    same("first records", read(after, "/data").records, (level, topic, partition))
    _compare_written(disk.read(path), number)
    same("no feature is left out", read(after, "/data").warnings, ())
    data = disk.read(path)
    fields = parse_fields(data)
    same("the time of first records", (fields["base_offset"], fields["base_timestamp_ms"]), (0, 7))
    other = FeatureLevelRecord(name="group.version", feature_level=1)
    bootstrap.write_bootstrap(disk, "/data", (level, other), 7)
    found = read(disk, "/data")
    same("first records without other features", found.records, (level,))
    named("a feature that is left out", "".join(found.warnings), path, "group.version")
    first = 12 + fields["length"]
    for what, content in (
        ("damaged", _flipped(data, random)),
        ("cut", data[:-1]),
        ("without an end", data[:first]),
        ("without a begin", data[first:]),
        ("empty", b""),
    ):
        put(disk, path, content)
        text = refused(f"first records {what}", StorageError, read, disk, "/data")
        named(f"first records {what}", text, path)
    for name, number in (("unknown", 1), ("metadata.version", 6), ("metadata.version", 99)):
        wrong = FeatureLevelRecord(name=name, feature_level=number)
        bootstrap.write_bootstrap(disk, "/data", (wrong,), 7)
        text = refused(f"{name} {number}", StorageError, read, disk, "/data")
        named(f"{name} {number}", text, path, name, number)


def _compare_written(data: bytes, level: int) -> None:
    """Compare the version of a partition's record with that of the level (KIP-778)."""
    begin = 12 + parse_fields(data)["length"]
    fields = parse_fields(data[begin:])
    content = data[begin + HEADER_BYTES : begin + 12 + fields["length"]]
    value = parse_records(content, fields["count"])[-1][-1]
    expected = (1, PartitionRecord.KEY, PARTITION_VERSIONS[level])
    same(f"frame, type and version of a partition at level {level}", tuple(value[:3]), expected)


def _compare_voters(random: Random) -> None:
    """Write and read the first voters of a quorum."""
    disk = SimulatedFileSystem()
    disk.make_directory("/data")
    disk.fsync_directory("/")
    path = f"{DIRECTORY}/{0:020d}-{0:010d}.checkpoint"
    same("the path of the voters", voter_set.voters_path("/data"), path)
    same("no voters", voter_set.read_voters(disk, "/data"), ())
    drawn = tuple(
        Voter(
            voter_id=number,
            voter_directory_id=Uuid(b"\1" + random.randbytes(15)),
            endpoints=(
                Endpoint(name="CONTROLLER", host=f"host-{number}", port=9000 + number),
                Endpoint(name="OTHER", host="other", port=1),
            ),
        )
        for number in range(random.randint(1, 3))
    )
    voter_set.write_voters(disk, "/data", drawn, 9)
    found = voter_set.read_voters(disk, "/data")
    facts = [(one.node_id, one.host, one.port) for one in found]
    expected = [(one.voter_id, f"host-{one.voter_id}", 9000 + one.voter_id) for one in drawn]
    same("the first voters", facts, expected)
    data = disk.read(path)
    fields = parse_fields(data)
    same("the records of the voters", (fields["attributes"], fields["count"]), (0x20, 3))
    later = parse_fields(data[12 + fields["length"] :])
    same("the end of the voters", (later["base_offset"], later["count"]), (3, 1))
    same("the time of the voters", fields["base_timestamp_ms"], 9)
    for what, content in (
        ("damaged", _flipped(data, random)),
        ("without an end", data[: 12 + fields["length"]]),
        ("empty", b""),
    ):
        put(disk, path, content)
        text = refused(f"voters {what}", StorageError, voter_set.read_voters, disk, "/data")
        named(f"voters {what}", text, path)
    voter_set.write_voters(disk, "/data", (Voter(voter_id=1),), 9)
    text = refused("a voter without address", StorageError, voter_set.read_voters, disk, "/data")
    named("a voter without address", text, path, "address")
