from random import Random

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.filesystem import replace_durably


def durable_file(content: bytes = b"old") -> SimulatedFileSystem:
    disk = SimulatedFileSystem()
    disk.make_directory("/data")
    disk.fsync_directory("/")
    replace_durably(disk, "/data/file", content)
    return disk


def test_what_was_synced_survives_every_crash() -> None:
    for seed in range(50):
        disk = durable_file()
        assert disk.crash(Random(seed)) == 0
        assert disk.read("/data/file") == b"old"


def test_a_crash_keeps_a_prefix_of_unsynced_writes() -> None:
    outcomes = set()
    for seed in range(300):
        disk = durable_file()
        handle = disk.append_to("/data/file")
        for part in (b"-one", b"-two", b"-three"):
            handle.write(part)
        lost = disk.crash(Random(seed))
        content = disk.read("/data/file").rstrip(b"\0")
        assert b"old-one-two-three".startswith(content)
        assert len(content) + lost == len(b"old-one-two-three")
        outcomes.add(content)
    assert {b"old", b"old-one", b"old-one-two", b"old-one-two-three"} <= outcomes
    assert b"old-o" in outcomes, "the first unsynced write is torn, too"
    assert b"old-one-two-t" in outcomes


def test_what_is_lost_may_read_as_zeros_but_never_beyond_what_was_written() -> None:
    lengths = set()
    for seed in range(300):
        disk = durable_file()
        disk.append_to("/data/file").write(b"-new")
        disk.crash(Random(seed))
        content = disk.read("/data/file")
        assert len(content) <= len(b"old-new")
        assert b"old-new".startswith(content.rstrip(b"\0"))
        lengths.add(content.count(b"\0"))
    assert lengths == {0, 1, 2, 3, 4}


def test_an_fsync_covers_only_what_was_written_before_it_started() -> None:
    for seed in range(50):
        disk = durable_file()
        handle = disk.append_to("/data/file")
        handle.write(b"A")
        fsync = handle.start_fsync()
        handle.write(b"B")
        fsync()
        disk.crash(Random(seed))
        assert disk.read("/data/file") in {b"oldA", b"oldAB", b"oldA\0"}


def test_an_unsynced_truncation_comes_back() -> None:
    contents = set()
    for seed in range(100):
        disk = durable_file(b"abcdef")
        handle = disk.append_to("/data/file")
        handle.truncate(2)
        handle.write(b"X")
        disk.crash(Random(seed))
        contents.add(disk.read("/data/file"))
    assert contents == {b"abcdef", b"ab", b"abX", b"ab\0"}


def test_a_new_name_is_lost_until_its_directory_is_synced() -> None:
    found = set()
    for seed in range(50):
        disk = durable_file()
        handle = disk.append_to("/data/new")
        handle.write(b"x")
        handle.start_fsync()()
        disk.crash(Random(seed))
        found.add(disk.exists("/data/new"))
    assert found == {True, False}


def test_a_rename_is_lost_or_kept_as_a_whole() -> None:
    found = set()
    for seed in range(100):
        disk = durable_file()
        handle = disk.append_to("/data/file.tmp")
        handle.write(b"new")
        handle.start_fsync()()
        disk.fsync_directory("/data")
        disk.replace("/data/file.tmp", "/data/file")
        disk.crash(Random(seed))
        found.add((disk.read("/data/file"), disk.exists("/data/file.tmp")))
    assert found == {(b"old", True), (b"new", False)}


def test_a_rename_without_fsync_of_the_file_may_leave_it_empty() -> None:
    contents = set()
    for seed in range(100):
        disk = durable_file()
        disk.append_to("/data/file.tmp").write(b"new")
        disk.replace("/data/file.tmp", "/data/file")
        disk.fsync_directory("/data")
        disk.crash(Random(seed))
        contents.add(disk.read("/data/file"))
    assert b"" in contents


def test_missing_files_are_refused_as_by_the_real_disk() -> None:
    disk = durable_file()
    with pytest.raises(FileNotFoundError):
        disk.read("/data/none")
    with pytest.raises(FileNotFoundError):
        disk.append_to("/none/file")
    assert disk.list_directory("/data") == ["file"]
    disk.remove("/data/file")
    assert disk.list_directory("/data") == []
