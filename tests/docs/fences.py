"""The fenced blocks of a page, and what a reader would do with them.

- `sh`: commands; one shell runs all of a page's, in order. `# exit code N` at the end of a command
  states its exit code; otherwise the code is 0.
- `sh WORD`: commands of another stage (`docker`, `spark`, `long`), or of make (`make`).
- `python`: a file; its first line is a comment with its name.
- `python NAME`, `text NAME`: a file of this name, with a dot in it.
- `text output`: the output of the commands of the block before, seconds apart.
- `text` and blocks without a language: nothing to run.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = re.compile(r"#[^#]*exit code (\d+)")
FILE_NAME = re.compile(r"^# (\S+\.py)\n")
NAMED = re.compile(r"(?:python|text) (\S+\.\S+)")
OUTPUT = "text output"
SECONDS = re.compile(r"\b\d+\.\d+ s\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One fenced block."""

    language: str
    text: str

    @property
    def file_name(self) -> str | None:
        """Return the name of the file that the block is."""
        named = NAMED.fullmatch(self.language)
        if named is not None:
            return named[1]
        found = FILE_NAME.match(self.text) if self.language == "python" else None
        return None if found is None else found[1]


def pages() -> list[Path]:
    """Return README and every page of docs that people read."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def fences(page: Path) -> list[Fence]:
    """Return the blocks of a page, in order."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [Fence(language=language.strip(), text=text) for language, text in found]


def commands(fence: Fence) -> list[str]:
    """Return the commands of a block; a line that ends in a backslash goes on."""
    joined = fence.text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def script(blocks: list[Fence], known: Iterable[str] = ()) -> str:
    """Return a shell script that runs all commands and ends at the first unexpected exit code.

    The output of the commands of block N goes to the file output-N as well.

    Args:
        blocks: The blocks.
        known: Commands that ran in the same folder before; they are left out.
    """
    lines = []
    numbered = ((number, line) for number, block in enumerate(blocks) for line in commands(block))
    for number, line in numbered:
        if without_comment(line) in known:
            continue
        found = EXPECTED.search(line)
        expected = 0 if found is None else int(found[1])
        lines += [
            f"echo '$ '{_quoted(line)} >&2",
            "{",  # not a subshell: the next lines see this one's variables
            line,
            "} > output 2>&1",
            "status=$?",
            f"cat output; cat output >> output-{number}",
            f"[ $status -eq {expected} ] || {failed(expected)}",
        ]
    return "\n".join(lines) + "\n"


def without_comment(line: str) -> str:
    """Return a command without its comment, with the exit code that the comment states."""
    found = EXPECTED.search(line)
    words = line.partition(" #")[0].split()
    return " ".join([*words, found[0].split()[-1] if found else "0"])


def shown_outputs(blocks: list[Fence], language: str) -> dict[int, str]:
    """Return the output that the page shows of the blocks of a language, by their number."""
    found = {}
    number = -1
    for before, block in zip([None, *blocks], blocks, strict=False):
        number += block.language == language
        if block.language == OUTPUT and before is not None and before.language == language:
            found[number] = comparable(block.text)
    return found


def comparable(output: str) -> str:
    """Return an output with its seconds replaced and without spaces at the ends of its lines."""
    lines = (line.rstrip() for line in SECONDS.sub("0.0 s", output).splitlines())
    return "\n".join(lines).strip()


def failed(expected: int) -> str:
    """Return the command that ends the script after an unexpected exit code."""
    return f'{{ echo "exit code $status, not {expected}" >&2; exit 1; }}'


def _quoted(line: str) -> str:
    return "'" + line.replace("'", "'\\''") + "'"
