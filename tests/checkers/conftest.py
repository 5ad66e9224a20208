"""Fixtures of the checker tests: histories written from short tuples, and kernels uncompiled."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from kraftproof.checkers.uncompiled import uncompiled
from tests.support.random_cases import is_long

PLAIN_SECONDS = 600.0
"""Processor seconds that a test may run kernels as plain Python; far more than any test takes."""
HISTORIES = Path(__file__).parents[1] / "histories"

Event = tuple[int, str, str, object]
"""(process, type, f, value)."""


def event_lines(events: Iterable[dict]) -> str:
    return "".join(json.dumps({"index": i, **event}) + "\n" for i, event in enumerate(events))


@pytest.fixture(autouse=True)
def plain_python(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run kernels as plain Python, except in tests marked compiled or long, and in test-long.

    The same source gives the same answers either way. To compile all engines takes minutes on a
    machine that has not compiled them yet, as in CI; `make test-long` compiles all of them.
    """
    if is_long() or any(request.node.get_closest_marker(name) for name in ("compiled", "long")):
        yield
        return
    with uncompiled(PLAIN_SECONDS):
        yield


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
