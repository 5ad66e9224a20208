"""`kraftproof explain`: explain an invalid history in words, as JSON or as a picture."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec
import pyarrow.compute as pc
import typer
from rich.console import Console

from kraftproof.checkers.compiling import report_compiling
from kraftproof.checkers.explain import DEFAULT_SECONDS
from kraftproof.checkers.explain.run import Explained, explainable, explained, read_history
from kraftproof.checkers.history.tables import read_table
from kraftproof.checkers.initial import parse_initial
from kraftproof.checkers.judge.inline import check_inline
from kraftproof.checkers.logs.around import OrderView, order_views
from kraftproof.checkers.sources import History, node_tables_there
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, RunVerdict, Verdict
from kraftproof.errors import UsageError
from kraftproof.history_options import Initial, Keyed
from kraftproof.option_files import option_file, refuse_path
from kraftproof.output import print_error, print_line, print_verdict
from kraftproof.quick_start import without_pandas
from kraftproof.report.explanations import write_html
from kraftproof.report.verdict_json import json_line
from kraftproof.run.findings import in_words, last_moments, unexplained

_KEYS_NAMED: Final = 8
_FINDINGS_SHOWN: Final = 8


def explain(
    history: Annotated[Path, typer.Argument(help="A history, or a run directory.")],
    model: Annotated[
        str | None, typer.Option(help="Model; by default inferred from the operations.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Key to explain; by default the first invalid key.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the picture to this file.", metavar="FILE")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time limit of each of the two searches.", min=0.1)
    ] = DEFAULT_SECONDS,
    *,
    is_keyed: Keyed = None,
    initial: Initial = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the complete explanation as JSON.")
    ] = False,
) -> None:
    """Explain why a history is invalid: the illegal operation and the operations that prove it.

    [bold]kraftproof explain history.jsonl[/]
    Prints the first operation that can't be linearized, the longest legal order
    before it, and a minimal sub-history that is invalid by itself.

    [bold]kraftproof explain --html why.html --key 3 store/RUN[/]
    Writes a picture of a key of a run: operations as bars, faults shaded. The
    page opens at the illegal operation.

    For a run that violates an invariant or a check of the node logs, the command
    prints the check, the node and the time, and the states of the nodes around
    this time.

    Exit codes: 0 valid, 1 invalid and explained, 2 unknown, 3 wrong usage or
    input.
    """
    without_pandas()
    refuse_path("--html", html)
    report_compiling(lambda line: print_error(f"kraftproof explain: {line}"))
    read = _only(
        read_history(history, model, is_keyed=is_keyed, initial=parse_initial(initial)),
        history,
        key,
    )
    run = check_inline(read if key is None else _of_one_key(read))
    with Console(stderr=True).status("searching for a minimal sub-history"):
        found = list(explained(read, run, most=1, seconds=seconds))
    if not found:
        _without_explanation(run, _orders(read, run), as_json=as_json)
        if html is not None:
            _write_orders(html, _orders(read, run))
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
    """Return the history, or its operations on a key."""
    if key is None:
        return read
    keys = read.table.column("key")
    if not pc.any(pc.equal(keys, key)).as_py():
        known = sorted(keys.unique().to_pylist())
        more = f" and {len(known) - _KEYS_NAMED} more" if len(known) > _KEYS_NAMED else ""
        named = ", ".join(map(shortened, known[:_KEYS_NAMED]))
        raise UsageError(f"{path}: no key {shortened(key)}: it has {named}{more}")
    return msgspec.structs.replace(read, table=read.table.filter(pc.equal(keys, key)))


def _of_one_key(read: History) -> History:
    """Return the history without the node tables and, if findings count, the facts of the run."""
    facts = read.source.facts
    kept = facts if facts is not None and facts.is_discounted else None
    source = msgspec.structs.replace(read.source, tables=None, facts=kept)
    return msgspec.structs.replace(read, source=source)


def _show(one: Explained, run: RunVerdict) -> None:
    print_verdict(Verdict.INVALID.value, f" {run.history}  {run.model}")
    print_line(one.explanation.words)
    others = [finding.key for finding in explainable(run)][1:]
    if others:
        named = ", ".join(str(key) for key in others[:_KEYS_NAMED])
        more = f" and {len(others) - _KEYS_NAMED} more" if len(others) > _KEYS_NAMED else ""
        print_line(f"Also invalid: {named}{more} (--key KEY)")
    _print_findings(run, unexplained(run))


def _without_explanation(run: RunVerdict, orders: Sequence[OrderView], *, as_json: bool) -> None:
    """Print the findings of a run that no sub-history explains, or print that the run is valid.

    Args:
        run: The verdict.
        orders: The records around the findings on partitions.
        as_json: Whether to print the verdict as JSON only.
    """
    if as_json:
        sys.stdout.write(json_line(run) + "\n")
        return
    print_verdict(run.verdict.value, f" {run.history}  {run.model}")
    _print_findings(run, run.findings)
    for note in (*run.doubts, *run.notes):
        print_line(f"  {note}")
    for view in orders:
        print_line("")
        for line in (f"Offset {view.offset} of {view.key}", *view.lines()):
            print_line(line)
    if run.verdict is Verdict.VALID:
        print_line("The history is valid: nothing to explain.")


def _orders(read: History, run: RunVerdict) -> list[OrderView]:
    source = read.source
    there = node_tables_there(source)
    has_replicas = source.tables is not None and "replicas" in there
    replicas = read_table(source.tables, "replicas") if has_replicas and source.tables else None
    return order_views(run.findings, read.table, replicas) if run.model == "log" else []


def _write_orders(path: Path, orders: Sequence[OrderView]) -> None:
    """Write the pictures of the records around findings; without a finding there is no file."""
    if not orders:
        return
    from kraftproof.report.order_picture import page_of

    with option_file("--html", path) as part:
        part.write_text(page_of(orders), encoding="utf-8")
    print_error(f"wrote {path}")


def _print_findings(run: RunVerdict, found: Sequence[Finding]) -> None:
    """Print the first findings, and the states of the nodes around the first finding."""
    for finding in found[:_FINDINGS_SHOWN]:
        print_line(f"  {in_words(finding)}")
    if len(found) > _FINDINGS_SHOWN:
        print_line(f"  and {len(found) - _FINDINGS_SHOWN} more findings")
    drawn = last_moments(Path(run.history), found[0]) if found else ""
    if drawn:
        print_line("")
        print_line(drawn.rstrip("\n"))


def _write(path: Path, one: Explained) -> None:
    with option_file("--html", path) as part:
        write_html(part, one)
    print_error(f"wrote {path}")
