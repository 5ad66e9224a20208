"""Writes explanations of invalid keys beside a run, or wherever the user wants: JSON and a picture.

What an explanation holds is checkers.explain's; how it is drawn is kraftproof.report's.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers.explain.explanation import Explanation
from kraftproof.checkers.explain.run import (
    Explained,
    explainable,
    explained,
    read_again,
    read_history,
)
from kraftproof.checkers.unfinished import whole_file
from kraftproof.checkers.verdict import CheckerInputError, RunVerdict
from kraftproof.errors import UsageError
from kraftproof.option_files import reason_of
from kraftproof.output import complain
from kraftproof.run.directory import RunDirectory

RUN_SECONDS: Final = 5.0
"""What each of the two searches for one may take beside a run."""
WORDS_SECONDS: Final = 2.0
LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An explanation that lies in a folder, and its picture."""

    explanation: Explanation
    picture: Path


def explain_into(folder: Path, run: RunVerdict, prefix: str = "") -> list[Written]:
    """Write explanations of a judged history's first invalid keys.

    Args:
        folder: where; it is made if there is something to write.
        run: the verdict; its `history` is read again.
        prefix: what the files' names begin with.

    Raises:
        UsageError: the folder can't be written to.
    """
    if not explainable(run):
        return []
    history = read_again(run)
    return write_all(folder, explained(history, run, seconds=RUN_SECONDS), prefix)


def first_words(run: RunVerdict) -> str:
    """Return in words why a judged history's first invalid key is so; none if no key is."""
    if not explainable(run):
        return ""
    history = read_again(run)
    found = explained(history, run, most=1, seconds=WORDS_SECONDS)
    return "\n".join(one.explanation.words for one in found)


def write_all(folder: Path, found: Iterable[Explained], prefix: str = "") -> list[Written]:
    """Write explanations into a folder, NAME.json and NAME.html each."""
    written: list[Written] = []
    for one in found:
        path = _free(folder, f"{prefix}{one.explanation.key}", {one.picture for one in written})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with whole_file(path.with_suffix(".json")) as part:
                part.write_bytes(_as_json(one.explanation))
            with whole_file(path) as part:
                write_html(part, one)
        except OSError as error:
            raise UsageError(f"{folder}: can't be written to: {reason_of(error)}") from error
        written.append(Written(explanation=one.explanation, picture=path))
    return written


def explain_run(directory: RunDirectory, run: RunVerdict) -> list[Written]:
    """Write explanations into a run's directory; one that fails spoils nothing else."""
    try:
        if not explainable(run):
            return []
        found = explained(read_history(directory.path, run.model), run, seconds=RUN_SECONDS)
        return write_all(directory.explanations, found)
    except CheckerInputError as error:
        complain(f"kraftproof: {error}")
        return []


def write_html(path: Path, one: Explained) -> None:
    """Write the picture of an explanation."""
    from kraftproof.report.history_picture import write_picture

    write_picture(path, one.explanation, one.operations, one.faults)


def _as_json(explanation: Explanation) -> bytes:
    return msgspec.json.format(msgspec.json.encode(explanation), indent=2) + b"\n"


def _free(folder: Path, wanted: str, taken: Container[Path]) -> Path:
    """A picture's path that is like a text which may hold anything, and that is not taken."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:LONGEST_NAME] or "key"
    paths = (folder / f"{name}{suffix}.html" for suffix in chain([""], map("-{}".format, count(2))))
    return next(path for path in paths if path not in taken)
