"""Edits of the node that break one requirement each, as the files of breakages/ list them.

An edit is a mutant's (mutants/mutant.py). `broken.py` runs the tests that carry the requirement
with the edit in place; they must notice.
"""

import importlib.util
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kraftproof.mutants.mutant import Edit, Mutant

FOLDER: Final = Path(__file__).with_name("breakages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """One way to break a requirement.

    Attributes:
        requirement: The id, such as 595-01.
        title: What the broken node does.
        module: The edited module, such as node.core.gate.
        old: The text to replace, which the module has once.
        new: The text in its place.
        stage: The stage of `make test` with the tests of the requirement, if no other has any.
    """

    requirement: str
    title: str
    module: str
    old: str
    new: str
    stage: str = ""

    @property
    def name(self) -> str:
        """Return the id and the title as one word, for pytest."""
        return f"{self.requirement}-{self.title.replace(' ', '_')}"

    @property
    def mutant(self) -> Mutant:
        """Return the edit as a mutant, which the import hook can install."""
        edit = Edit(module=f"kraftproof.{self.module}", old=self.old, new=self.new)
        return Mutant(mutant_id=self.name, title=self.title, source="", edits=(edit,))

    @property
    def problem(self) -> str:
        """Return why the edit does not apply to the module as it is; empty if it does."""
        (edit,) = self.mutant.edits
        found = importlib.util.find_spec(edit.module)
        if found is None or found.origin is None:
            return f"there is no module {edit.module}"
        count = Path(found.origin).read_text(encoding="utf-8").count(edit.old)
        if count != 1:
            return f"{edit.module} has the text {count} times"
        return "" if edit.new != edit.old else "it changes nothing"


def breakages_of(path: Path) -> tuple[Breakage, ...]:
    """Return the breakages of a file."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["breakage"]
    return tuple(Breakage(**row) for row in rows)


BREAKAGES: Final = tuple(
    breakage for path in sorted(FOLDER.glob("*.toml")) for breakage in breakages_of(path)
)
