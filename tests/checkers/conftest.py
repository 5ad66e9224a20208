"""Fixtures of the checker tests: histories written from short tuples."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

HISTORIES = Path(__file__).parents[1] / "histories"

Event = tuple[int, str, str, object]
"""(process, type, f, value)."""


def event_lines(events: Iterable[dict]) -> str:
    return "".join(json.dumps({"index": i, **event}) + "\n" for i, event in enumerate(events))


@pytest.fixture
def write_history(tmp_path: Path) -> Callable[..., Path]:
    """Writes (process, type, f, value) tuples as a history; times are 1 ms an event."""

    def write(events: Iterable[Event], *, key: object = "k", name: str = "h.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            event_lines(
                {
                    "process": process,
                    "type": kind,
                    "f": f,
                    "key": key,
                    "value": value,
                    "time": number * 1_000_000,
                }
                for number, (process, kind, f, value) in enumerate(events)
            )
        )
        return path

    return write


@pytest.fixture
def verdicts_told() -> dict[str, tuple[str, str]]:
    """The model and the verdict of every shared history, by its path."""
    lines = (HISTORIES / "VERDICTS.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return {str(HISTORIES / path): (model, verdict) for path, model, verdict in rows}
