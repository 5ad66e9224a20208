"""The offsets beside the log: never more than what is there, and never less after a restart."""

from pathlib import Path

import pytest

from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.types import Instant, Monotonic, Offset, WallClock
from kraftproof.node.core.effects import Append, Exit, Flush, Truncate
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.stored import Stored, open_node_storage
from tests.node.core.raft.messages import elected
from tests.node.storage.test_stored import batch, config, formatted
from tests.support.node.quorum_harness import Quorum
from tests.support.node.snapshot_disk import DIRECTORY, with_two_snapshots
from tests.support.node.snapshot_disk import opened as opened_in_memory

DISK = Disk()
NAMES = (
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
)
NOW = Instant(Monotonic(0), WallClock(0))
pytestmark = pytest.mark.requirement("595-11")


def opened(directory: Path) -> Stored:
    return open_node_storage(DISK, config(directory))


def files(directory: Path) -> list[str | None]:
    log = directory / "__cluster_metadata-0"
    paths = [log / name for name in NAMES]
    return [path.read_text() if path.exists() else None for path in paths]


def says(offset: int) -> str:
    return f"0\n1\n__cluster_metadata 0 {offset}\n"


def with_records(directory: Path, count: int = 5, high_watermark: int = 4) -> None:
    """A node that has stopped in order with so many records, not all committed."""
    formatted(directory)
    stored = opened(directory)
    for offset in range(count):
        stored.storage.append(Append(METADATA_LOG, batch(offset)))
    stored.storage.stopped(high_watermark)
    stored.storage.close()


def test_an_orderly_stop_notes_what_is_durable_and_committed(tmp_path: Path) -> None:
    with_records(tmp_path)
    assert files(tmp_path) == [None, says(5), says(4)]
    again = opened(tmp_path)
    assert again.history.high_watermark == 4
    assert len(again.batches) == 5


def test_an_orderly_stop_notes_where_the_log_begins() -> None:
    disk = with_two_snapshots()
    stored = opened_in_memory(disk)
    stored.storage.stopped(40)
    path = f"{DIRECTORY}/log-start-offset-checkpoint"
    assert disk.read(path).decode() == says(20)


def test_a_kill_leaves_lower_bounds_which_the_next_start_brings_up_to_date(tmp_path: Path) -> None:
    with_records(tmp_path)
    stored = opened(tmp_path)
    for offset in range(5, 9):
        stored.storage.append(Append(METADATA_LOG, batch(offset)))
    stored.storage.start_flush(Flush(log=METADATA_LOG, generation=0, end_offset=Offset(9)))()
    assert files(tmp_path) == [None, says(5), says(4)]
    again = opened(tmp_path)
    assert files(tmp_path) == [None, says(9), says(4)]
    assert again.history.high_watermark == 4


def test_a_cut_log_lowers_them_first(tmp_path: Path) -> None:
    with_records(tmp_path)
    stored = opened(tmp_path)
    stored.storage.truncate(Truncate(METADATA_LOG, Offset(4)))
    assert files(tmp_path) == [None, says(4), says(4)]
    assert opened(tmp_path).history.high_watermark == 4


@pytest.mark.parametrize(("kept", "words"), [(4, "durable up to 5"), (2, "durable up to 5")])
def test_a_log_that_has_lost_what_was_durable_is_refused(
    tmp_path: Path, kept: int, words: str
) -> None:
    with_records(tmp_path)
    segment = next(tmp_path.rglob("0*.log"))
    data = segment.read_bytes()
    segment.write_bytes(data[: len(data) // 5 * kept])
    with pytest.raises(StorageError) as caught:
        opened(tmp_path)
    message = str(caught.value)
    assert f"the log ends at offset {kept}, but was {words}" in message
    assert "\n" not in message
    segment.write_bytes(data)
    assert len(opened(tmp_path).batches) == 5, "restart works after the cause is gone"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1\n1\n__cluster_metadata 0 3\n",
        b"0\n2\n__cluster_metadata 0 3\n",
        b"0\n1\n__cluster_metadata 0 -3\n",
        b"0\n1\nother 0 3\n",
        b"\xff\xfe",
    ],
)
def test_a_garbled_file_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    with_records(tmp_path)
    path = tmp_path / "__cluster_metadata-0" / name
    path.write_bytes(content)
    with pytest.raises(StorageError) as caught:
        opened(tmp_path)
    assert (
        str(caught.value) == f"{path}: does not hold an offset of the metadata log; remove the file"
    )
    path.unlink()
    assert len(opened(tmp_path).batches) == 5


@pytest.mark.requirement("595-29")
def test_what_was_committed_before_the_restart_is_never_cut_after_it() -> None:
    quorum = elected()
    quorum.propose(1, "a")
    quorum.quiesce()
    quorum.crash(3)
    for remembered, status in ((0, None), (2, 1)):
        member = quorum.members[3]
        quorum.start(3)
        member.raft.remember_committed(Offset(remembered))
        assert member.raft.high_watermark == remembered
        quorum.members[3].raft._state.enter_epoch(5, 2, quorum.instant)
        cut = member.raft._fetcher._truncate
        cut(member.raft.log.end_offset_for_epoch(0), quorum.instant)
        exits = [effect for effect in member.outbox.drain() if isinstance(effect, Exit)]
        assert [exit_.status for exit_ in exits] == ([] if status is None else [status])
        quorum.crash(3)
        member.disk = Quorum(3).members[3].disk
        member.disk.batches = list(quorum.members[1].disk.batches)
