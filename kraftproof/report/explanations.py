"""Write the explanations of invalid keys into a run directory or another folder: JSON and pictures.

checkers.explain computes an explanation, and history_picture.py draws the picture.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from kraftproof.output import print_error

if TYPE_CHECKING:
    from kraftproof.run.directory import RunDirectory

RUN_SECONDS: Final = 5.0
"""Time limit of each of the two searches for the explanation of a run, in seconds."""
WORDS_SECONDS: Final = 2.0
LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A written explanation and its picture."""

    explanation: Explanation
    picture: Path


def explain_into(folder: Path, run: RunVerdict, prefix: str = "") -> list[Written]:
    """Write explanations of a judged history's first invalid keys.

    Args:
        folder: The folder, created if an explanation is written.
        run: The verdict; the history of the verdict is read again.
        prefix: Prefix of the file names.

    Raises:
        UsageError: the folder can't be written to.
    """
    if not explainable(run):
        return []
    history = read_again(run)
    return write_all(folder, explained(history, run, seconds=RUN_SECONDS), prefix)


def first_words(run: RunVerdict) -> str:
    """Return the explanation of the first invalid key in words; empty if no key is invalid."""
    if not explainable(run):
        return ""
    history = read_again(run)
    found = explained(history, run, most=1, seconds=WORDS_SECONDS)
    return "\n".join(one.explanation.words for one in found)


def write_all(folder: Path, found: Iterable[Explained], prefix: str = "") -> list[Written]:
    """Write explanations into a folder, as NAME.json and NAME.html."""
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
            path = error.filename or folder
            raise UsageError(f"{path}: can't be written to: {reason_of(error)}") from error
        written.append(Written(explanation=one.explanation, picture=path))
    return written


def explain_run(directory: "RunDirectory", run: RunVerdict) -> list[Written]:
    """Write explanations into a run directory; a failing explanation is skipped."""
    try:
        if not explainable(run):
            return []
        found = explained(read_history(directory.path, run.model), run, seconds=RUN_SECONDS)
        return write_all(directory.explanations, found)
    except CheckerInputError as error:
        print_error(f"kraftproof: {error}")
        return []


def write_html(path: Path, one: Explained) -> None:
    """Write the picture of an explanation."""
    from kraftproof.report.history_picture import write_picture

    write_picture(path, one.explanation, one.operations, one.faults)


def _as_json(explanation: Explanation) -> bytes:
    return msgspec.json.format(msgspec.json.encode(explanation), indent=2) + b"\n"


def _free(folder: Path, wanted: str, taken: Container[Path]) -> Path:
    """Return an unused path for a picture, with a name similar to an arbitrary text."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:LONGEST_NAME] or "key"
    paths = (folder / f"{name}{suffix}.html" for suffix in chain([""], map("-{}".format, count(2))))
    return next(path for path in paths if path not in taken)
