"""The fenced blocks of a page, and what a reader would do with them.

- `sh`: commands; one shell runs all of a page's, in order. `# exit code N` at the end of a command
  states its exit code; otherwise the code is 0.
- `sh WORD`: commands of another stage (`docker`, `spark`), or of make (`make`).
- `python`: a file; its first line is a comment with its name.
- `text` and blocks without a language: nothing to run.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = re.compile(r"#[^#]*exit code (\d+)")
FILE_NAME = re.compile(r"^# (\S+\.py)\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One fenced block."""

    language: str
    text: str

    @property
    def file_name(self) -> str | None:
        """Return the name of the file that the block is."""
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


def script(blocks: list[Fence]) -> str:
    """Return a shell script that runs all commands and ends at the first unexpected exit code."""
    lines = []
    for line in (line for block in blocks for line in commands(block)):
        found = EXPECTED.search(line)
        expected = 0 if found is None else int(found[1])
        lines += [
            f"echo '$ '{_quoted(line)} >&2",
            line,
            "status=$?",
            f"[ $status -eq {expected} ] || {failed(expected)}",
        ]
    return "\n".join(lines) + "\n"


def failed(expected: int) -> str:
    """Return the command that ends the script after an unexpected exit code."""
    return f'{{ echo "exit code $status, not {expected}" >&2; exit 1; }}'


def _quoted(line: str) -> str:
    return "'" + line.replace("'", "'\\''") + "'"
