"""Measure how vague docstrings and pages are, and fail when a package gets worse.

`python -m scripts.prose [PATH...]` prints a table and the worst sentences. A vague word is a
pronoun or a placeholder, such as "it", "what" or "one"; a vague sentence has 30 % of them or more.
Sentences of fewer than six words are left out. scripts/prose_limits.tsv records the limits of each
package in percent. `--record` lowers the limits to the figures of today. Exit code 1 if a figure
is above its limit, 3 if a path or a file is wrong.
"""

import argparse
import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = ROOT / "scripts" / "prose_limits.tsv"
VAGUE_SHARE = 0.3
"""Share of vague words from which a sentence is vague."""
SHORTEST = 6
"""Least number of words of a measured sentence."""
WORST_SHOWN = 10
WORST_OF_A_FAILURE = 5
LEFT_OUT = {"generated", "tests", ".venv"}
VAGUE = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|there|then|what|whatever|who|whom|which|one|ones"
    r"|some|something|others?|all|anything|none|nothing|more|so|such)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
LIST_ITEM = re.compile(r"(?:[-*]|\d+\.)\s+")


class ProseError(Exception):
    """A path or a file is wrong; the message is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, its place and its numbers of words and of vague words."""

    path: Path
    line: int
    text: str
    words: int
    vague: int

    @property
    def share(self) -> float:
        """Return the share of vague words."""
        return self.vague / self.words


@dataclass(frozen=True, slots=True)
class Measured:
    """The sentences of a package or a page."""

    sentences: tuple[Sentence, ...]

    @property
    def count(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    @property
    def words(self) -> int:
        """Return the number of words."""
        return sum(sentence.words for sentence in self.sentences)

    @property
    def vague_words(self) -> int:
        """Return the number of vague words."""
        return sum(sentence.vague for sentence in self.sentences)

    @property
    def vague_count(self) -> int:
        """Return the number of vague sentences."""
        return sum(sentence.share >= VAGUE_SHARE for sentence in self.sentences)

    @property
    def vague(self) -> float:
        """Return the percentage of vague words, rounded to one digit."""
        return round(100 * self.vague_words / max(self.words, 1), 1)

    @property
    def vague_sentences(self) -> float:
        """Return the percentage of vague sentences, rounded to one digit."""
        return round(100 * self.vague_count / max(self.count, 1), 1)

    def worst(self, count: int) -> list[Sentence]:
        """Return the vague sentences with the highest shares, long sentences first."""
        vague = [sentence for sentence in self.sentences if sentence.share >= VAGUE_SHARE]
        return sorted(vague, key=lambda each: (-each.share, -each.words, each.line))[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The greatest percentages that a path may have."""

    path: str
    vague: float
    sentences: float


def sentences(path: Path, first_line: int, text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text that begins in a line of a file."""
    starts, lines, joined = [0], [first_line], ""
    for number, line in enumerate(text.splitlines(), start=first_line):
        content = " ".join(line.split())
        if content:
            joined = f"{joined} {content}" if joined else content
            starts.append(len(joined) - len(content))
            lines.append(number)
    begin = 0
    for sentence in SENTENCE_END.split(joined):
        words, vague = len(WORD.findall(sentence)), len(VAGUE.findall(sentence))
        place = lines[bisect_right(starts, begin) - 1]
        if words >= SHORTEST:
            yield Sentence(path=path, line=place, text=sentence, words=words, vague=vague)
        begin += len(sentence) + 1


def of_python(path: Path, text: str) -> Iterator[Sentence]:
    """Yield the sentences of all docstrings, attribute docstrings included."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ProseError(f"{path}:{error.lineno}: the file is no Python: {error.msg}") from None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else ():
            value = child.value if isinstance(child, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield from sentences(path, value.lineno, value.value)


def of_page(path: Path, text: str) -> Iterator[Sentence]:
    """Yield the sentences of a Markdown page without code, tables and headings."""
    first, block, is_code = 1, list[str](), False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        stripped = line.strip()
        item = LIST_ITEM.match(stripped)
        if stripped.startswith("```"):
            is_code = not is_code
        if not stripped or is_code or item or stripped.startswith(("#", "|", "```")):
            yield from sentences(path, first, "\n".join(block))
            block = []
        if stripped and not is_code and not stripped.startswith(("#", "|", "```")):
            first = first if block else number
            block.append(LINK.sub(r"\1", stripped[item.end() if item else 0 :]))


def measure(path: Path) -> Measured:
    """Measure a file, or all Python files and pages of a folder."""
    if not path.exists():
        raise ProseError(f"{path}: no such file or folder")
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found: list[Sentence] = []
    for file in files:
        read = {".py": of_python, ".md": of_page}.get(file.suffix)
        if read is None or LEFT_OUT & set(file.relative_to(path).parts):
            continue
        try:
            found += read(_shown(file), file.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise ProseError(f"{file}: the file is no UTF-8 text") from None
    return Measured(tuple(found))


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def read_limits(path: Path) -> list[Limit]:
    """Read the limits of all paths."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            name, vague, share = line.split("\t")
            found.append(Limit(path=name, vague=float(vague), sentences=float(share)))
        except ValueError:
            raise ProseError(
                f"{path.name}:{number}: the line has to be PATH, TAB, percent, TAB, percent"
            ) from None
    return found


def record(path: Path, limits: Sequence[Limit], measured: Sequence[Measured]) -> None:
    """Lower the limits in the file to the measured figures."""
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    rows = [
        f"{limit.path}\t{min(limit.vague, found.vague):.1f}"
        f"\t{min(limit.sentences, found.vague_sentences):.1f}"
        for limit, found in zip(limits, measured, strict=True)
    ]
    path.write_text("\n".join([*comments, *rows]) + "\n", encoding="utf-8")


def failures(limit: Limit, found: Measured) -> Iterator[str]:
    """Yield a line for each figure above its limit."""
    if found.vague > limit.vague:
        yield f"{limit.path}: {found.vague} % of the words are vague, the limit is {limit.vague} %"
    if found.vague_sentences > limit.sentences:
        yield (
            f"{limit.path}: {found.vague_sentences} % of the sentences are vague,"
            f" the limit is {limit.sentences} %"
        )


def table(names: Sequence[str], measured: Sequence[Measured]) -> str:
    """Return a table with a row for each path and the sums."""
    rows = [*zip(names, measured, strict=True)]
    if len(rows) > 1:
        rows.append(
            ("all", Measured(tuple(each for found in measured for each in found.sentences)))
        )
    head = f"{'':<20}{'sentences':>10}{'vague words':>13}{'vague sentences':>17}"
    body = [
        f"{name:<20}{found.count:>10}{found.vague:>11} %{found.vague_sentences:>15} %"
        for name, found in rows
    ]
    return "\n".join([head, *body])


def show(found: Sequence[Sentence]) -> None:
    """Print sentences with their places."""
    for sentence in found:
        print(f"{sentence.share:.0%} {sentence.path}:{sentence.line}: {sentence.text}")


def check(options: argparse.Namespace) -> int:
    """Print the table and the worst sentences; return the exit code."""
    limits = [] if options.paths else read_limits(options.limits)
    names = options.paths or [limit.path for limit in limits]
    measured = [measure(ROOT / name if not options.paths else Path(name)) for name in names]
    print(table(names, measured))
    show(
        Measured(tuple(each for found in measured for each in found.sentences)).worst(options.worst)
    )
    failed = False
    for limit, found in zip(limits, measured[: len(limits)], strict=True):
        for line in failures(limit, found):
            failed = True
            print(f"prose: {line}", file=sys.stderr)
            show(found.worst(WORST_OF_A_FAILURE))
    if options.record and limits:
        record(options.limits, limits, measured)
    return int(failed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the paths, or all paths with limits."""
    parser = argparse.ArgumentParser(prog="prose", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="measured without limits")
    parser.add_argument("--worst", type=int, default=WORST_SHOWN, help="sentences to print")
    parser.add_argument("--limits", type=Path, default=LIMITS, help="the file of the limits")
    parser.add_argument("--record", action="store_true", help="lower the limits to these figures")
    try:
        return check(parser.parse_args(arguments))
    except (ProseError, OSError) as error:
        print(f"prose: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
