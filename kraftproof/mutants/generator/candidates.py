"""List the edits of the modules below given paths of the node."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kraftproof.errors import UsageError
from kraftproof.mutants.generator.operators import OPERATORS
from kraftproof.mutants.generator.site import sites
from kraftproof.mutants.generator.source import Replacement, Source, fingerprint
from kraftproof.mutants.mutant import Mutant

PACKAGE: Final = Path(__file__).resolve().parents[2]
NODE: Final = (PACKAGE / "node").resolve()
GENERATED: Final = "generated"
"""Folders of generated code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An edit of an operator, before the type check."""

    source: Source
    operator: str
    replacement: Replacement

    @property
    def line(self) -> int:
        """The line of the edit."""
        return self.source.line_of(self.replacement.start)

    @property
    def is_valid(self) -> bool:
        """Whether the edited module is Python and has another syntax tree."""
        try:
            tree = ast.parse(self.source.applied(self.replacement))
        except SyntaxError:
            return False
        return ast.dump(tree) != self.source.structure

    def mutant(self) -> Mutant:
        """Return the candidate as a mutant; changes of distant lines keep the id."""
        edit = self.source.edit(self.replacement)
        module = self.source.module.removeprefix("kraftproof.node.")
        return Mutant(
            mutant_id=f"{module}-{self.operator}-{fingerprint(edit)}",
            title=f"{self.operator.replace('-', ' ')} at line {self.line} of {self.source.path}",
            source="kraftproof mutate",
            edits=(edit,),
        )


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Return the modules of files and folders of the node, without generated code, sorted.

    Raises:
        UsageError: a path does not exist, is not in the node, or has no module.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or directory")
        if not path.resolve().is_relative_to(NODE):
            raise UsageError(f"{path}: not in the node's source; mutants are edits of {NODE}")
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        modules = [file for file in files if file.suffix == ".py" and not _is_generated(file)]
        if not modules:
            raise UsageError(f"{path}: no module to edit; generated code is left out")
        found.update(dict.fromkeys(file.resolve() for file in modules))
    return tuple(_source(file) for file in sorted(found))


def _is_generated(file: Path) -> bool:
    return GENERATED in file.resolve().relative_to(NODE).parts


def _source(file: Path) -> Source:
    inside = Path("kraftproof", "node", file.relative_to(NODE))
    parts = inside.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Source(module=name, path=inside.as_posix(), text=file.read_text(encoding="utf-8"))


def candidates(source: Source) -> Iterator[Candidate]:
    """Yield every edit of a module once, in the order of the source."""
    seen: set[Replacement] = set()
    for site in sites(source):
        for name, operator in OPERATORS.items():
            for replacement in operator(site):
                if replacement not in seen:
                    seen.add(replacement)
                    yield Candidate(source=source, operator=name, replacement=replacement)
