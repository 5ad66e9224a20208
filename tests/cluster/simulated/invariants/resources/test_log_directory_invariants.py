"""The answers to DescribeLogDirs are judged by the files on the disk."""

import pytest

from kraftproof.cluster.simulated.disk.directory_files import DirectoryFiles, directory_files
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.cluster.simulated.invariants.resources.log_directories import LogDirsMatchFiles
from kraftproof.node.wire.messages import describe_log_dirs_request, describe_log_dirs_response
from kraftproof.node.wire.types import ZERO_UUID
from tests.cluster.simulated.invariants.partition_case import PartitionCase
from tests.support.node.raw_batches import raw

PATH, OTHER = "/disk-1", "/disk-2"
VOLUME = (1000, 900)
NONE, STORAGE_ERROR = 0, 56
Module = describe_log_dirs_response


def part(size, *, index=0, lag=0, is_future=False):
    return Module.DescribeLogDirsPartition(
        partition_index=index, partition_size=size, offset_lag=lag, is_future_key=is_future
    )


def result(*parts, path=PATH, error=NONE, volume=VOLUME, name="t"):
    topics = (Module.DescribeLogDirsTopic(name=name, partitions=parts),) if parts else ()
    total, usable = volume
    return Module.DescribeLogDirsResult(
        error_code=error, log_dir=path, topics=topics, total_bytes=total, usable_bytes=usable
    )


def case_of(*, has_start=False, is_truncated=False):
    """Return a case with a log of two batches in the first of two directories."""
    case = PartitionCase(LogDirsMatchFiles())
    batches = [raw(0, epoch=0), raw(1, epoch=0)]
    case.append(1, *batches)
    size = sum(len(each.data) for each in batches)
    if has_start:
        case.raise_start(1, 1)
    if is_truncated:
        case.truncate(1, 1)
        size -= len(batches[1].data)
    case.nodes[1].log_directories = lambda: (
        DirectoryFiles(PATH, VOLUME, {("t", 0): size}),
        DirectoryFiles(OTHER, VOLUME, {}),
    )
    return case, size


def judged(*results, topics=None, version=4, error=NONE, is_failed=False, **options):
    case, _ = case_of(**options)
    if is_failed:
        case.nodes[1].partitions.fail(ZERO_UUID)
    request = describe_log_dirs_request.DescribeLogDirsRequest(
        topics=None
        if topics is None
        else tuple(
            describe_log_dirs_request.DescribableLogDirTopic(topic=name, partitions=indexes)
            for name, indexes in topics.items()
        )
    )
    answer = Module.DescribeLogDirsResponse(error_code=error, results=results)
    case.answer(1, request, answer, version=version)
    return case.reported


SIZE = case_of()[1]
EMPTY = result(path=OTHER)


@pytest.mark.parametrize(
    ("results", "options"),
    [
        ((result(part(SIZE)), EMPTY), {}),
        ((EMPTY, result(part(SIZE))), {}),
        ((result(part(SIZE)), EMPTY), {"topics": {"t": (0, 9), "no-topic": (0,)}}),
        ((result(), EMPTY), {"topics": {"t": (1,)}}),
        ((result(), EMPTY), {"topics": {}}),
        ((result(part(SIZE, lag=0), volume=(-1, -1)), EMPTY), {"version": 3}),
        ((result(part(SIZE // 2)), EMPTY), {"has_start": True}),
        ((result(part(SIZE)), EMPTY), {"is_truncated": True}),
        ((result(error=STORAGE_ERROR), EMPTY), {"is_failed": True}),
        ((), {"error": 31}),
    ],
)
def test_a_description_of_the_disk_is_right(results, options):
    assert judged(*results, **options) == []


@pytest.mark.parametrize(
    ("results", "options", "wrong"),
    [
        ((result(part(SIZE + 1)), EMPTY), {}, f"{SIZE + 1} bytes are described"),
        ((result(part(SIZE - 1)), EMPTY), {}, f"the files have {SIZE}"),
        ((result(part(0)), EMPTY), {}, "0 bytes are described"),
        ((result(part(SIZE, lag=1)), EMPTY), {}, "lag 1"),
        ((result(part(SIZE, is_future=True)), EMPTY), {}, "future True"),
        ((result(), EMPTY), {}, "the logs [] are described, not [('t', 0)]"),
        ((result(part(SIZE), part(SIZE)), EMPTY), {}, "('t', 0), ('t', 0)"),
        ((result(part(SIZE), part(0, index=1)), EMPTY), {}, "has no log ('t', 1)"),
        ((result(), result(part(SIZE), path=OTHER)), {}, "/disk-2 has no log ('t', 0)"),
        ((result(part(SIZE)), EMPTY), {"topics": {"t": (1,)}}, "are described, not []"),
        ((result(), EMPTY), {"topics": {"t": (0,)}}, "are described, not [('t', 0)]"),
        ((result(part(SIZE), volume=(1000, 1000)), EMPTY), {}, "(1000, 1000), not (1000, 900)"),
        ((result(part(SIZE)),), {}, "the directories ['/disk-1'] are described"),
        ((result(part(SIZE)), result(path=OTHER, error=STORAGE_ERROR)), {}, "has error 56"),
        ((result(part(0)), EMPTY), {"is_truncated": True}, "0 bytes are described"),
        ((result(part(0)), EMPTY), {"has_start": True}, "0 bytes are described"),
    ],
)
def test_a_wrong_description_is_reported(results, options, wrong):
    (report, *_) = judged(*results, **options)
    assert wrong in report


def test_the_sizes_are_those_of_the_segments_of_each_log():
    disk = SimulatedFileSystem()
    for name, size in (
        ("t-0/00000000000000000000.log", 7),
        ("t-0/00000000000000000009.log", 5),
        ("t-0/leader-epoch-checkpoint", 3),
        ("u-v-12/00000000000000000000.log", 0),
        ("t-1.b3f0c2d4e5f60718293a4b5c6d7e8f90-delete/00000000000000000000.log", 9),
    ):
        folder, _, file = name.rpartition("/")
        disk.make_directory(f"{PATH}/{folder}")
        disk.append_to(f"{PATH}/{folder}/{file}").write(b"x" * size)
    (found,) = directory_files(disk, (PATH, OTHER))
    assert found.path == PATH
    assert found.logs == {("t", 0): 12, ("u-v", 12): 0}
