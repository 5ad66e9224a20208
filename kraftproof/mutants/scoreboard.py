"""The scoreboard of planted bugs: found or missed, the detecting property and the cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from kraftproof.mutants.search import Search

if TYPE_CHECKING:
    from kraftproof.mutants.mutant import Mutant

MEASURED = (
    "CPU-seconds are those of a search's process from its first seed to the violation: simulation, "
    "invariants and checkers. The start of Python (about a second) and the second run that draws "
    "the diagram are left out. The median is over searches that begin at seeds of their own."
)
KAFKA = "Kafka's own simulation, 700 scenarios of 112 to 120 CPU-s each, kills 8 of these fifteen."


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A mutant with the results of its searches."""

    mutant: "Mutant"
    searches: tuple[Search, ...]
    budget_s: float

    @property
    def is_found(self) -> bool:
        """Return whether every search found the mutant within the budget."""
        return all(search.is_found for search in self.searches)

    def cost_s(self, search: Search) -> float:
        """Return the CPU seconds of a search; the complete budget if the search missed."""
        return search.cpu_s if search.is_found else self.budget_s

    @property
    def typical(self) -> Search:
        """The search with the median cost; the cheaper of two medians."""
        return sorted(self.searches, key=self.cost_s)[(len(self.searches) - 1) // 2]

    @property
    def cpu_s(self) -> float:
        """The median cost of the searches in CPU seconds."""
        return self.cost_s(self.typical)

    @property
    def by(self) -> str:
        """The detecting property, and the expected property if the two differ."""
        typical, expected = self.typical, self.mutant.expected
        if typical.by is None:
            return "-"
        return typical.by if typical.by == expected else f"{typical.by} (expected: {expected})"

    @property
    def all_costs(self) -> str:
        """The CPU seconds of each search, in the order of the seeds."""
        return " ".join(
            f"{search.cpu_s:.1f}" if search.is_found else "-" for search in self.searches
        )

    @property
    def result(self) -> str:
        """The result in a word or as a count of successful searches, with the crashed seeds."""
        finds = sum(search.is_found for search in self.searches)
        found = "found" if self.is_found else "missed"
        if not self.is_found and finds:
            found += f" ({finds} of {len(self.searches)} found it)"
        return f"{found}; seeds that crashed: {self.crashes}" if self.crashes else found

    @property
    def crashes(self) -> int:
        """Number of seeds in which the node crashed; a crash is no detection."""
        return sum(len(search.crashes) for search in self.searches)

    def as_json(self) -> dict[str, object]:
        """Return the line of `--json`."""
        return {
            "mutant": self.mutant.mutant_id,
            "found": self.is_found,
            "by": self.typical.by,
            "seed": self.typical.seed,
            "cpu_seconds": round(self.cpu_s, 3),
            "crashes": self.crashes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """All scores, with the searches of the unchanged node."""

    scores: tuple[Score, ...]
    clean: tuple[Search, ...]
    """Searches of the unchanged node; empty if not requested."""

    @property
    def false_alarms(self) -> tuple[int, ...]:
        """The distinct seeds that the unchanged node did not pass."""
        searches = [*self.clean, *(one for score in self.scores for one in score.searches)]
        return tuple(sorted({seed for search in searches for seed in search.false_alarms}))

    @property
    def is_good(self) -> bool:
        """Return whether all mutants were found without a false alarm."""
        return all(score.is_found for score in self.scores) and not self.false_alarms

    @property
    def of_section_h(self) -> tuple[Score, ...]:
        """The scores of mutants that were planted in Kafka's own code as well."""
        return tuple(score for score in self.scores if score.mutant.kafka is not None)

    def summary(self) -> tuple[str, ...]:
        """Return the summary in a few lines."""
        lines = [_tally("", self.scores)] if self.scores else []
        if self.of_section_h:
            lines.append(_tally("planted in Kafka's own code as well: ", self.of_section_h))
        if self.clean:
            seeds = sum(search.searched for search in self.clean)
            unknown = sum(search.unknown for search in self.clean)
            line = f"the node as it is: {seeds} seeds, {len(self.false_alarms)} false alarms"
            lines.append(f"{line}, {unknown} without a verdict" if unknown else line)
        if self.false_alarms:
            lines.append(f"false alarms at seeds {', '.join(map(str, self.false_alarms))}")
        return tuple(lines)


def _tally(which: str, scores: Sequence[Score]) -> str:
    found = sum(score.is_found for score in scores)
    middle_s = median(score.cpu_s for score in scores)
    slowest = max(scores, key=lambda score: score.cpu_s)
    return (
        f"{which}{found} of {len(scores)} found, median {middle_s:.1f} CPU-s, "
        f"slowest {slowest.mutant.mutant_id} {slowest.cpu_s:.1f} CPU-s"
    )


def as_table(board: Scoreboard) -> Table:
    """Return the scoreboard as a table for a terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("mutant", "what is wrong", "result", "by"):
        table.add_column(heading, overflow="fold")
    table.add_column("CPU-s", justify="right")
    for score in board.scores:
        style = "green" if score.is_found else "bold red"
        table.add_row(
            score.mutant.mutant_id,
            Text(score.mutant.title),
            Text(score.result, style=style),
            score.typical.by or "-",
            f"{score.cpu_s:.1f}",
        )
    return table


def as_markdown(board: Scoreboard, *, command: str, date: str) -> str:
    """Return the text of docs/scoreboard.md."""
    parts = [
        "# Scoreboard",
        f"Generated by `{command}` on {date}; do not edit.",
        "",
        *(f"- {line}" for line in board.summary()),
        "",
        f"{MEASURED} A mutant is found if each of its searches finds it within the budget, and the "
        "node as it is passes the seed; the invariant or checker, and the seed, are those of the "
        "search of median cost. A crash is no find: a search goes on past such seeds, which the "
        "result counts. S breaks safety, L progress within bounds.",
        "",
        "## Mutants",
        "| mutant | | what is wrong | source | result | by | CPU-s | of each search | seed |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, board.scores),
    ]
    if board.of_section_h:
        parts += [
            "",
            "## Beside Kafka's own simulation",
            KAFKA,
            "",
            "| mutant | Kafka's | ours | by | CPU-s |",
            "|---|---|---|---|---|",
            *map(_row_beside_kafka, board.of_section_h),
        ]
    return "\n".join(parts) + "\n"


def _row(score: Score) -> str:
    mutant, typical = score.mutant, score.typical
    return _cells(
        mutant.mutant_id,
        mutant.kind,
        mutant.title,
        mutant.source,
        score.result,
        score.by,
        f"{score.cpu_s:.1f}",
        score.all_costs,
        "-" if typical.seed is None else str(typical.seed),
    )


def _row_beside_kafka(score: Score) -> str:
    return _cells(
        score.mutant.mutant_id,
        score.mutant.kafka or "-",
        score.result,
        score.typical.by or "-",
        f"{score.cpu_s:.1f}",
    )


def _cells(*texts: str) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
