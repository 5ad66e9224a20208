"""`kraftproof explain`: why a history is invalid, in words, as JSON, as a picture."""

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import pyarrow.compute as pc
import typer
from rich.console import Console

from checkers.compiling import report_compiling
from checkers.explain import DEFAULT_SECONDS
from checkers.explain.run import Explained, explainable, explained, read_history
from checkers.inline import check_inline
from checkers.sources import History
from checkers.verdict import RunVerdict, Verdict
from kraftproof.errors import UsageError
from kraftproof.explanations import write_html
from kraftproof.output import complain, say, say_verdict
from kraftproof.quick_start import without_pandas

_KEYS_NAMED: Final = 8


def explain(
    history: Annotated[Path, typer.Argument(help="A history, or a run directory.")],
    model: Annotated[
        str | None, typer.Option(help="The model; otherwise inferred from the operations.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="This key; otherwise the first that is invalid.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the picture to this file.", metavar="FILE")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time limit of each of the two searches.", min=0.1)
    ] = DEFAULT_SECONDS,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The whole explanation as JSON.")] = False,
) -> None:
    """Say why a history is invalid: the operation, and the few others that prove it.

    [bold]kraftproof explain history.jsonl[/]
    In words: the first operation that has no legal place, the longest legal
    order before it, and a minimal sub-history that is invalid by itself.

    [bold]kraftproof explain --html why.html --key 3 store/RUN[/]
    One key of a run, as a picture in one file: operations as bars, faults
    shaded; it opens at the offending operation.

    Exit codes: 0 it is valid, 1 invalid and explained, 2 unknown; 3 a mistake.
    """
    without_pandas()
    report_compiling(lambda line: complain(f"kraftproof explain: {line}"))
    read = _only(read_history(history, model), history, key)
    run = check_inline(_without_node_logs(read))
    with Console(stderr=True).status("looking for the fewest operations that prove it"):
        found = list(explained(read, run, most=1, seconds=seconds))
    if not found:
        _nothing(run)
        raise typer.Exit(run.exit_code)
    (one,) = found
    if as_json:
        sys.stdout.write(msgspec.json.encode(one.explanation).decode() + "\n")
    else:
        _show(one, run)
    if html is not None:
        _write(html, one)
    raise typer.Exit(run.exit_code)


def _only(read: History, path: Path, key: str | None) -> History:
    """The history, or its operations on one key."""
    if key is None:
        return read
    keys = read.table.column("key")
    if not pc.any(pc.equal(keys, key)).as_py():
        there = sorted(keys.unique().to_pylist())
        more = f" and {len(there) - _KEYS_NAMED} more" if len(there) > _KEYS_NAMED else ""
        raise UsageError(f"{path}: no key {key}: it has {', '.join(there[:_KEYS_NAMED])}{more}")
    return msgspec.structs.replace(read, table=read.table.filter(pc.equal(keys, key)))


def _without_node_logs(read: History) -> History:
    """What the nodes wrote is no part of any key's history."""
    return msgspec.structs.replace(read, source=msgspec.structs.replace(read.source, tables=None))


def _show(one: Explained, run: RunVerdict) -> None:
    say_verdict(Verdict.INVALID.value, f" {run.history}  {run.model}")
    say(one.explanation.words)
    others = [finding.key for finding in explainable(run)][1:]
    if others:
        named = ", ".join(str(key) for key in others[:_KEYS_NAMED])
        more = f" and {len(others) - _KEYS_NAMED} more" if len(others) > _KEYS_NAMED else ""
        say(f"Invalid as well: {named}{more} (--key KEY)")


def _nothing(run: RunVerdict) -> None:
    """Says why there is nothing to explain."""
    say_verdict(run.verdict.value, f" {run.history}  {run.model}")
    for finding in run.findings:
        say(f"  {finding.check}: {finding.sentence}")
    for note in run.notes:
        say(f"  {note}")
    if run.verdict is Verdict.VALID:
        say("There is nothing to explain.")


def _write(path: Path, one: Explained) -> None:
    try:
        write_html(path, one)
    except OSError as error:
        raise UsageError(f"--html {path}: {error.strerror}") from error
    complain(f"wrote {path}")
