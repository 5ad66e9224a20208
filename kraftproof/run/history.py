"""Recorders of the history and the faults: a JSON object per line, written immediately.

Each line goes to the operating system at once, so no line is lost if this process dies. See
checkers/history/schema.py for the fields.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from kraftproof.cluster.systems.system import Completion, Value
from kraftproof.run.mishaps import writing
from kraftproof.run.operations import DoneOperation, DoneOperations


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEvent:
    """A phase of a fault."""

    time_ns: int
    phase: str
    name: str
    kind: str
    targets: tuple[object, ...]
    detail: str


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A line of history.jsonl."""

    index: int
    process: int
    type: str
    f: str
    key: str
    value: Value
    time: int
    node: int | None
    error: str | None = None


class _Phase(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A line of faults.jsonl."""

    index: int
    time: int
    phase: str
    fault: str
    kind: str
    targets: tuple[object, ...]
    detail: str


class _Lines:
    """A file of JSON lines without a buffer."""

    __slots__ = ("_encoder", "_file", "_path", "count")

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            self._file: IO[bytes] = path.open("wb", buffering=0)
        self._encoder = msgspec.json.Encoder()
        self.count = 0

    def write(self, row: _Event | _Phase) -> None:
        """Write a row, whose index is the number of lines before the row.

        Raises:
            RunFileError: the write fails, for example on a full disk; the file then ends with the
                last complete line.
        """
        line = self._encoder.encode(row) + b"\n"
        with writing(self._path):
            written = self._file.write(line)
            if written < len(line):
                self._finish(line, written)
        self.count += 1

    def _finish(self, line: bytes, written: int) -> None:
        """Complete a partly written line, or truncate the file to the last complete line."""
        start = self._file.tell() - written
        try:
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError:
            self._file.truncate(start)
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Invoked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An open operation."""

    process: int
    f: str
    key: str
    node: int | None
    time_ns: int


class HistoryRecorder:
    """The writer of history.jsonl, with counts for the progress display and the figures."""

    __slots__ = ("_lines", "_now", "done", "open")

    def __init__(self, path: Path, now: Callable[[], int]) -> None:
        self._lines = _Lines(path)
        self._now = now
        self.done = DoneOperations()
        self.open = 0

    @property
    def events(self) -> int:
        """The number of events in the file."""
        return self._lines.count

    def invoke(self, process: int, f: str, key: str, value: Value, node: int | None) -> Invoked:
        """Write the invocation of an operation."""
        time_ns = self._now()
        self.open += 1
        self._lines.write(
            _Event(
                index=self._lines.count,
                process=process,
                type="invoke",
                f=f,
                key=key,
                value=value,
                time=time_ns,
                node=node,
            )
        )
        return Invoked(process=process, f=f, key=key, node=node, time_ns=time_ns)

    def complete(self, invoked: Invoked, completion: Completion) -> None:
        """Write the completion of an operation."""
        time_ns = self._now()
        self.open -= 1
        self._lines.write(
            _Event(
                index=self._lines.count,
                process=invoked.process,
                type=completion.outcome.value,
                f=invoked.f,
                key=invoked.key,
                value=completion.value,
                time=time_ns,
                node=invoked.node,
                error=completion.error,
            )
        )
        self.done.add(
            DoneOperation(
                f=invoked.f,
                outcome=completion.outcome,
                invoke_ns=invoked.time_ns,
                complete_ns=time_ns,
                key=invoked.key,
            )
        )

    def close(self) -> None:
        """Close the file; open operations stay without a completion."""
        self._lines.close()


class FaultRecorder:
    """The writer of faults.jsonl, the log of the injector."""

    __slots__ = ("_lines", "_now", "events", "listener")

    def __init__(self, path: Path, now: Callable[[], int]) -> None:
        self._lines = _Lines(path)
        self._now = now
        self.events: list[FaultEvent] = []
        self.listener: Callable[[FaultEvent], None] | None = None

    def write(
        self, phase: str, name: str, kind: str, targets: tuple[object, ...], detail: str
    ) -> None:
        """Write a phase of a fault."""
        event = FaultEvent(
            time_ns=self._now(), phase=phase, name=name, kind=kind, targets=targets, detail=detail
        )
        self.events.append(event)
        if self.listener is not None:
            self.listener(event)
        self._lines.write(
            _Phase(
                index=self._lines.count,
                time=event.time_ns,
                phase=phase,
                fault=name,
                kind=kind,
                targets=targets,
                detail=detail,
            )
        )

    def close(self) -> None:
        """Close the file."""
        self._lines.close()
