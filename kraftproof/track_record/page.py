"""Write docs/track_record.md: a table of all rows, each with its last result.

The results are in a file of lines beside the page, for the rows without a new run.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.errors import UsageError
from kraftproof.option_files import option_file
from kraftproof.track_record.record import Recorded, Runs

RESULTS: Final = "track_record.jsonl"
LONGEST_SENTENCE: Final = 300
_HEAD: Final = """# Track record

Bugs of released systems that Kraftproof's ordinary checks find. `kraftproof track-record` runs the
rows of tests/track_record: the affected version until the check finds the bug, and the control
version, which must have no such finding. *Found* counts runs; *seconds* is the time from the start
of the first run to the verdict with the finding, starts of the nodes and downloads included.

| row | issue | bug | affected | found | seconds | control | found | check | day |
|---|---|---|---|---|---|---|---|---|---|
"""


def write_page(page: Path, recorded: Iterable[Recorded]) -> None:
    """Write the page and the results; rows without a new run keep the results.

    Raises:
        UsageError: a file can't be read or written.
    """
    results = page.with_name(RESULTS)
    kept = {one.row: one for one in _read(results)} | {one.row: _placeless(one) for one in recorded}
    ordered = [kept[name] for name in sorted(kept)]
    with option_file("--page", results) as part:
        part.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in ordered))
    with option_file("--page", page) as part:
        rest = _findings(ordered) + _without_verdict(ordered)
        part.write_text(_HEAD + "".join(map(_line, ordered)) + rest, "utf-8")


def _placeless(one: Recorded) -> Recorded:
    """Return a result without the run directories, which exist on one machine only."""
    return msgspec.structs.replace(
        one,
        affected=msgspec.structs.replace(one.affected, path=""),
        control=msgspec.structs.replace(one.control, path=""),
    )


def _read(results: Path) -> list[Recorded]:
    if not results.exists():
        return []
    try:
        return [
            msgspec.json.decode(line, type=Recorded)
            for line in results.read_bytes().splitlines()
            if line.strip()
        ]
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{results}: {error}") from error


def _line(one: Recorded) -> str:
    affected, control = one.affected, one.control
    cells = (
        one.row,
        one.issue,
        one.title,
        affected.version,
        _counts(affected),
        f"{affected.seconds:.0f}",
        control.version,
        _counts(control),
        f"`{one.check}`",
        one.day,
    )
    return f"| {' | '.join(cells)} |\n"


def _counts(runs: Runs) -> str:
    counts = f"{runs.found} of {runs.done}"
    return f"{counts}, {runs.unknown} unknown" if runs.unknown else counts


def _without_verdict(ordered: Iterable[Recorded]) -> str:
    """Return a list of the reasons for runs without a verdict; empty without such runs."""
    lines = [
        f"- **{one.row}** ({runs.version}): {runs.why}\n"
        for one in ordered
        for runs in (one.affected, one.control)
        if runs.why
    ]
    return "".join(("\n## Runs without a verdict\n\n", *lines)) if lines else ""


def _findings(ordered: Iterable[Recorded]) -> str:
    lines = ["\n## What was found\n"]
    for one in ordered:
        if one.affected.sentence:
            sentence = one.affected.sentence
            if len(sentence) > LONGEST_SENTENCE:
                sentence = f"{sentence[:LONGEST_SENTENCE]}..."
            lines.append(f"- **{one.row}** ({one.issue}, {one.affected.version}): {sentence}\n")
    return "\n".join((lines[0], "".join(lines[1:]))) if len(lines) > 1 else ""
