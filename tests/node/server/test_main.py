"""What kraft-node says when it can't start: one line, status 1, no traceback."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.server.main import run
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.log import DIRECTORY_NAME, MetadataLog
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
LONGEST_S = 30


@pytest.fixture(autouse=True)
def ended_start() -> Iterator[None]:
    """End a node that starts in spite of its mistake: it would serve for ever."""

    def end(*_: object) -> None:
        raise TimeoutError("the node serves")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LONGEST_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def properties(tmp_path: Path, extra: str = "", port: int = 1) -> str:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        f"controller.quorum.voters=1@127.0.0.1:{port}\nlisteners=CONTROLLER://127.0.0.1:{port}\n"
        f"log.dirs={tmp_path / 'data'}\n{extra}"
    )
    return str(path)


def format_data(tmp_path: Path, node_id: int = 1) -> None:
    meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(node_id))
    format_directories(Disk(), [str(tmp_path / "data")], meta)


def refusal(capsys: pytest.CaptureFixture[str], argv: list[str]) -> str:
    """The one line that a refused start prints."""
    assert run(argv) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if "starts as" not in line]) == 1, lines
    return lines[-1]


def test_an_unknown_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(capsys, [properties(tmp_path, "log.retention=1\n")])
    assert line.startswith("kraft-node: log.retention: unknown configuration key")


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(capsys, [str(tmp_path / "absent")])
    assert line == f"kraft-node: {tmp_path / 'absent'}: No such file or directory"


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in refusal(capsys, [str(tmp_path / "binary")])


@pytest.mark.requirement("631-05")
def test_an_unformatted_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "format the directory" in refusal(capsys, [properties(tmp_path)])


def test_a_data_directory_that_is_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    format_data(tmp_path)
    (tmp_path / "data" / DIRECTORY_NAME).write_text("not a directory")
    line = refusal(capsys, [properties(tmp_path)])
    assert str(tmp_path / "data" / DIRECTORY_NAME) in line


@pytest.mark.requirement("631-92")
def test_another_nodes_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    format_data(tmp_path, node_id=2)
    assert "node.id is 2, the configuration's 1" in refusal(capsys, [properties(tmp_path)])


@pytest.mark.requirement("631-92")
def test_another_clusters_quorum_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    format_data(tmp_path)
    log = tmp_path / "data" / DIRECTORY_NAME
    log.mkdir()
    (log / "quorum-state").write_text(
        '{"clusterId":"x","leaderId":1,"leaderEpoch":4,"votedId":-1,"data_version":0}'
    )
    assert "clusterId is 'x'" in refusal(capsys, [properties(tmp_path)])


def test_a_log_that_is_corrupt_in_the_middle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    format_data(tmp_path)
    path = str(tmp_path / "data" / DIRECTORY_NAME)
    log, _ = MetadataLog.open(Disk(), path)
    for offset in range(3):
        log.append(Batch(base_offset=offset, epoch=1, timestamp_ms=0, records=(NoOpRecord(),)))
    log.close()
    file = Path(path) / "00000000000000000000.log"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert f"{file}: corrupt at byte" in refusal(capsys, [properties(tmp_path)])


def test_an_address_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    format_data(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = refusal(capsys, [properties(tmp_path, port=port)])
    assert f"127.0.0.1:{port}" in line or f"'127.0.0.1', {port}" in line
