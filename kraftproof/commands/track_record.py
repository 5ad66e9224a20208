"""`kraftproof track-record`: find known bugs of released systems, and show their controls."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.errors import UsageError
from kraftproof.output import print_error, print_json, print_line, print_verdict

ROWS = Path("tests/track_record")
PAGE = Path("docs/track_record.md")


def track_record(
    rows: Annotated[
        list[str] | None, typer.Argument(metavar="[ROW]...", help="Rows by name; all by default.")
    ] = None,
    *,
    folder: Annotated[
        Path, typer.Option("--rows", help="The folder with a file NAME.toml per row.")
    ] = ROWS,
    page: Annotated[Path, typer.Option(help="The page that is written.")] = PAGE,
    store: Annotated[Path, typer.Option(help="Where run directories are made.")] = Path("store"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per row in place of text.")
    ] = False,
) -> None:
    """Find known bugs of released systems, on the affected and on a control version.

    [bold]kraftproof track-record[/]
    All rows of tests/track_record; writes docs/track_record.md.

    [bold]kraftproof track-record kafka-15489 --json[/]
    One row, as a JSON line with the time to find.

    A row holds if its check finds the bug on the affected version, and nothing on
    the control version. Other rows of the page keep their results.

    Exit codes: 0 all rows hold, 1 a row does not hold, 3 wrong usage or input, 130
    interrupted.
    """
    from kraftproof.track_record.page import write_page
    from kraftproof.track_record.record import record, refuse
    from kraftproof.track_record.rows import read_rows

    if not page.absolute().parent.is_dir():
        raise UsageError(f"--page {page}: there is no folder {page.parent}")
    chosen, recorded = read_rows(folder, rows or (), store), []
    for row in chosen:
        refuse(row)
    for row in chosen:
        one = record(row, print_error)
        recorded.append(one)
        write_page(page, [one])
        if as_json:
            print_json(one.as_json())
        else:
            print_line(one.describe())
    held = sum(one.holds for one in recorded)
    if not as_json:
        print_verdict(
            "valid" if held == len(recorded) else "invalid",
            f"  {held} of {len(recorded)} rows hold; {page}",
        )
    raise typer.Exit(0 if held == len(recorded) else 1)
