"""List the requirements with their tests, and the requirements without a test.

`python -m scripts.requirements [--missing]`, or `make requirements`. The rows stand in
docs/requirements.tsv: id, due (`now` or `later`), section, the row in a few words. Tests name
them by `@pytest.mark.requirement("595-01")`; pytest itself is asked, since marks are also made
by parameters. Rows that are out of scope stand in docs/requirements_out_of_scope.tsv with the
reason. Exit status 1 if a row that is due now lacks a test, 3 if a file or a mark is wrong.
The script does not run the tests.
"""

import argparse
import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "docs" / "requirements.tsv"
OUT_OF_SCOPE = ROOT / "docs" / "requirements_out_of_scope.tsv"
DUE = ("now", "later")
TESTS_SHOWN = 2
MISSING, WRONG = 1, 3


class RequirementsError(Exception):
    """A file or a mark is wrong; the message is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement.

    Attributes:
        requirement: Id of the requirement, such as 595-01.
        is_due: Whether a test must carry the requirement now.
        section: Section of the document.
        words: Short text of the requirement.
    """

    requirement: str
    is_due: bool
    section: str
    words: str

    @property
    def heading(self) -> str:
        """Heading of a group of rows."""
        return f"KIP-{self.requirement.partition('-')[0]}: {self.section}"


class Collector:
    """A pytest plug-in that records the requirement marks of all tests.

    Tests marked `long` are left out, since `make test` does not run them.
    """

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}
        self.errors: list[str] = []

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Read the marks of all tests; parameters of one test count once."""
        for item in items:
            name = item.nodeid.partition("[")[0]
            for mark in item.iter_markers("requirement"):
                if len(mark.args) != 1 or mark.kwargs:
                    self.errors.append(f"{name}: a requirement mark names exactly one row")
                    continue
                if item.get_closest_marker("long") is not None:
                    continue
                tests = self.tests.setdefault(str(mark.args[0]), [])
                if name not in tests:
                    tests.append(name)


def fields(path: Path, columns: int) -> list[list[str]]:
    """Return the lines of a table but its header.

    Raises:
        RequirementsError: a line has another number of fields, or an id stands there twice.
    """
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    table = [line.split("\t") for line in lines]
    seen: set[str] = set()
    for number, line in enumerate(table, start=2):
        if len(line) != columns or not all(line):
            raise RequirementsError(f"{path.name} line {number}: {columns} fields are expected")
        if line[0] in seen:
            raise RequirementsError(f"{path.name} line {number}: {line[0]} is there already")
        seen.add(line[0])
    return table


def read_rows(path: Path = ROWS) -> list[Row]:
    """Return all rows, in the order of the file."""
    rows = []
    for requirement, due, section, words in fields(path, columns=4):
        if due not in DUE:
            raise RequirementsError(f"{path.name}: {requirement} is due {due!r}, not now or later")
        rows.append(Row(requirement=requirement, is_due=due == "now", section=section, words=words))
    return rows


def read_reasons(rows: Sequence[Row], path: Path = OUT_OF_SCOPE) -> dict[str, str]:
    """Return why rows are out of scope, by id."""
    reasons = dict(fields(path, columns=2))
    for requirement in sorted(reasons.keys() - {row.requirement for row in rows}):
        raise RequirementsError(f"{path.name}: {requirement} is no row of {ROWS.name}")
    return reasons


def collect() -> dict[str, list[str]]:
    """Return the tests of each row, by a collection of pytest.

    Raises:
        RequirementsError: the tests can't be collected, or a mark is wrong.
    """
    collector = Collector()
    said = io.StringIO()
    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(said):
        status = pytest.main(arguments, plugins=[collector])
    if status != pytest.ExitCode.OK:
        raise RequirementsError(f"pytest can't collect the tests:\n{said.getvalue()}")
    if collector.errors:
        raise RequirementsError(collector.errors[0])
    return collector.tests


def find_faults(
    rows: Sequence[Row], tests: Mapping[str, Sequence[str]], reasons: Mapping[str, str]
) -> str | None:
    """Return a line for each wrong mark or reason."""
    known = {row.requirement for row in rows}
    for requirement in sorted(tests):
        if requirement not in known:
            return f"{tests[requirement][0]}: {requirement} is no row of {ROWS.name}"
        if requirement in reasons:
            return f"{OUT_OF_SCOPE.name}: {requirement} has a test, {tests[requirement][0]}"
    return None


def describe(row: Row, tests: Sequence[str], reason: str | None) -> str:
    """Return a line with the id, the text and the tests of a row."""
    if reason is not None:
        carried = f"out of scope: {reason}"
    elif tests:
        shown = ", ".join(test.removeprefix("tests/") for test in tests[:TESTS_SHOWN])
        more = len(tests) - TESTS_SHOWN
        carried = f"{shown} and {more} more" if more > 0 else shown
    else:
        carried = "MISSING" if row.is_due else "not due yet"
    return f"{row.requirement:<8}{row.words} | {carried}"


def report(
    rows: Sequence[Row],
    tests: Mapping[str, Sequence[str]],
    reasons: Mapping[str, str],
    *,
    only_missing: bool,
) -> int:
    """Print the rows under their sections and the sums; return the exit status."""
    heading = ""
    missing = []
    for row in rows:
        carriers = tests.get(row.requirement, ())
        reason = reasons.get(row.requirement)
        is_missing = row.is_due and not carriers and reason is None
        if is_missing:
            missing.append(row.requirement)
        if only_missing and not is_missing:
            continue
        if row.heading != heading:
            heading = row.heading
            print(f"\n{heading}")
        print(describe(row, carriers, reason))
    due = sum(row.is_due for row in rows)
    print(
        f"\n{len(rows)} rows, {due} due now: {due - len(missing)} proven or out of scope,"
        f" {len(missing)} missing; {sum(row.requirement in tests for row in rows)} have a test"
    )
    return MISSING if missing else 0


def main() -> int:
    """Print the rows and their tests."""
    parser = argparse.ArgumentParser(prog="requirements", description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true", help="only rows that lack a test")
    arguments = parser.parse_args()
    try:
        rows = read_rows()
        reasons = read_reasons(rows)
        tests = collect()
        fault = find_faults(rows, tests, reasons)
    except (RequirementsError, OSError) as error:
        print(f"requirements: {error}", file=sys.stderr)
        return WRONG
    if fault is not None:
        print(f"requirements: {fault}", file=sys.stderr)
        return WRONG
    return report(rows, tests, reasons, only_missing=arguments.missing)


if __name__ == "__main__":
    sys.exit(main())
