"""Find what is edited in the node: in the working tree, or by a mutant of a file."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kraftproof.mutants.functions import function_at, functions
from kraftproof.mutants.hook import source_of
from kraftproof.mutants.mutant import Edit, Mutant

NODE: Final = Path(__file__).resolve().parents[2] / "node"
PREFIX: Final = "kraftproof.node."
Place = tuple[str, str]
"""A module of the node, and a function of the module; an empty text for other code."""
_FILE: Final = re.compile(r"\+\+\+ b/(.+)\.py")
_LINES: Final = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def edits_of_tree() -> tuple[Place, ...]:
    """Return the functions that differ from the last commit; none where git can't tell."""
    folder = NODE.resolve()
    command = ["git", "-C", str(folder), "diff", "-U0", "--no-color", "--no-ext-diff"]
    command += ["--src-prefix=a/", "--dst-prefix=b/", "--relative", "HEAD", "--", "."]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ()
    return _distinct(_changed(found.stdout, folder)) if found.returncode == 0 else ()


def _changed(diff: str, folder: Path) -> Iterator[Place]:
    """Yield the function of each changed line of a diff without context."""
    module, named = "", dict[str, range]()
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = _FILE.fullmatch(line)
            module = "" if file is None else file[1].replace("/", ".").removesuffix(".__init__")
            if file is not None:
                try:
                    named = functions((folder / f"{file[1]}.py").read_text(encoding="utf-8"))
                except (OSError, SyntaxError):
                    module = ""
        elif module and (lines := _LINES.match(line)):
            first, count = int(lines[1]), int(lines[2] or 1)
            for number in range(first, first + max(count, 1)):
                yield module, function_at(named, number) or ""


def edits_of_file(mutant: str) -> tuple[Place, ...]:
    """Return the functions that the mutant of a file edits; none for an id of the catalogue."""
    if not mutant.endswith(".py"):
        return ()
    from kraftproof import mutants

    return edits_of(mutants.load(mutant))


def edits_of(mutant: Mutant) -> tuple[Place, ...]:
    """Return the functions that a mutant edits."""
    return _distinct(place for edit in mutant.edits for place in _places(edit))


def _places(edit: Edit) -> Iterator[Place]:
    """Yield the function of each line that an edit changes."""
    source = source_of(edit.module)
    named = functions(source)
    old, new = edit.old.splitlines(), edit.new.splitlines()
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    ends = 0
    while ends < min(len(old), len(new)) - same and old[-1 - ends] == new[-1 - ends]:
        ends += 1
    first = source[: source.index(edit.old)].count("\n") + 1
    module = edit.module.removeprefix(PREFIX)
    for number in range(first + same, first + max(len(old) - ends, same + 1)):
        yield module, function_at(named, number) or ""


def _distinct(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(places))
