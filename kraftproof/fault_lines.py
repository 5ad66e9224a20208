"""Read a file with a line per fault, for `--faults` and the rows of the track record."""

from collections.abc import Iterable
from pathlib import Path

from kraftproof.errors import UsageError
from kraftproof.nemesis.schedule import Schedule, Scheduled
from kraftproof.nemesis.schedule_file import ScheduleFileError, parse_fault_line
from kraftproof.option_files import reason_of


def schedule_of_file(path: Path) -> Schedule:
    """Return the faults of a file, without empty lines and comments (#).

    Raises:
        UsageError: the file can't be read, or a line is no fault; one line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--faults {path}: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--faults {path}: {error}") from error
    return schedule_of_lines(text.splitlines(), f"--faults {path}")


def schedule_of_lines(lines: Iterable[str], where: str) -> Schedule:
    """Return the faults of lines.

    Raises:
        UsageError: a line is no fault; `where` and the number of the line come first.
    """
    found: list[Scheduled] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            found.append(parse_fault_line(line, f"f{len(found)}"))
        except ScheduleFileError as error:
            raise UsageError(f"{where} line {number}: {error}") from error
    return tuple(sorted(found, key=lambda one: one.at_ns))


def kinds_of(schedule: Schedule) -> tuple[str, ...]:
    """Return the kinds of the faults, each once."""
    return tuple(dict.fromkeys(one.kind for one in schedule))
