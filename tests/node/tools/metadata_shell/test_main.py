"""kraft-metadata-shell: options, files, and a session (631-99, 631-100)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftproof.node.tools.metadata_shell.main import run
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from tests.support.node.rich_image import FILE_NAME, RECORDS, snapshot_bytes

pytestmark = pytest.mark.requirement("631-99")


def lines_of(*lines: str) -> Callable[[], str]:
    left = list(lines)

    def read() -> str:
        if not left:
            raise EOFError
        return left.pop(0)

    return read


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    path = tmp_path / FILE_NAME
    path.write_bytes(snapshot_bytes())
    return str(path)


def test_a_command_runs_once(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-s", snapshot, "cat", "/image/provenance"]) == 0
    out = capsys.readouterr().out
    assert out == "offset 119, epoch 3, time 1970-01-01T00:00:01.234Z[UTC]\n"
    assert run(["--snapshot", snapshot, "ls", "nosuch"]) == 1
    assert capsys.readouterr().out == "ls: nosuch: no such file or directory.\n"


@pytest.mark.requirement("631-100")
def test_a_session_goes_on_after_a_mistake_until_exit(
    snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of("cd image", "frob", "pwd", "exit", "never read")
    assert run(["-s", snapshot], lines) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["Loading...", "Starting...", "[ Kraftproof Metadata Shell ]"]
    assert said[3].startswith(">> >> invalid choice: 'frob'")
    assert said[4:] == [">> /image", ">> "] or said[4:] == [">> /image"]
    assert lines() == "never read"
    assert run(["-s", snapshot], lines_of("pwd")) == 0, "the end of the input ends the session"


def test_a_segment_of_the_log_is_replayed_up_to_its_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "00000000000000000000.log"
    batches = [
        Batch(base_offset=number, epoch=2, timestamp_ms=5, records=(record,))
        for number, record in enumerate(RECORDS)
    ]
    path.write_bytes(b"".join(map(encode_batch, batches)))
    assert run(["-s", str(path), "cat", "/image/topics/byName/orders/id"]) == 0
    assert capsys.readouterr().out == "CwAAAAAAAAAAAAAAAAAABw\n"
    path.write_bytes(path.read_bytes()[:-5])
    assert run(["-s", str(path), "cat", "/image/provenance"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"offset {len(RECORDS) - 2}, epoch 2, ")
    assert "not read to its end" in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give one of --snapshot and --controllers"),
        (["-s", "x", "-C", "h:1"], "give one of --snapshot and --controllers"),
        (["-s", "/no/such/file.checkpoint"], "/no/such/file.checkpoint: No such file or directory"),
        (["-C", "nonsense"], "'nonsense' is no address: host:port is expected"),
        (["-C", "1@127.0.0.1:1"], "127.0.0.1:1: Connection refused"),
        (["-C", "h:1", "-c", "/no/such/file"], "/no/such/file: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line_and_status_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = run(arguments)
    except SystemExit as end:
        status = int(str(end.code))
    captured = capsys.readouterr()
    assert status == 1
    assert words in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_file_that_is_no_snapshot(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    assert run(["-s", str(path), "ls"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"kraft-metadata-shell: {path}: ")
    assert error.count("\n") == 1
