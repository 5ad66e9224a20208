"""Write a mutant as a Python file for `kraftproof sim --mutant FILE` and `mutants`."""

from pathlib import Path

from kraftproof.checkers.unfinished import whole_file
from kraftproof.mutants.generator.candidates import Candidate

TEMPLATE = '''"""A generated mutant; replay: kraftproof sim --mutant FILE."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id={mutant_id!r},
    title={title!r},
    source={source!r},
    edits=({edits},),
)
'''


DIFF_SUFFIX = ".diff"
REJECTED_SUFFIX = ".rejected"


def mutant_path(mutant_id: str, folder: Path) -> Path:
    """Return the path of a mutant's file in a folder."""
    return folder / f"{mutant_id}.py"


def write_mutant(candidate: Candidate, folder: Path) -> Path:
    """Write the file of a mutant and its diff into a folder; return the path of the file."""
    mutant = candidate.mutant()
    path = mutant_path(mutant.mutant_id, folder)
    text = TEMPLATE.format(
        mutant_id=mutant.mutant_id,
        title=mutant.title,
        source=mutant.source,
        edits=", ".join(
            f"Edit(module={one.module!r}, old={one.old!r}, new={one.new!r})" for one in mutant.edits
        ),
    )
    diff = candidate.source.diff(candidate.replacement)
    for file, content in ((path.with_suffix(DIFF_SUFFIX), diff), (path, text)):
        with whole_file(file) as part:
            part.write_text(content, encoding="utf-8")
    return path


def reject_mutant(mutant_id: str, folder: Path) -> None:
    """Remove the file of a mutant and its diff, and note that the mutant was rejected."""
    path = mutant_path(mutant_id, folder)
    path.unlink(missing_ok=True)
    path.with_suffix(DIFF_SUFFIX).unlink(missing_ok=True)
    path.with_suffix(REJECTED_SUFFIX).touch()


def is_rejected(mutant_id: str, folder: Path) -> bool:
    """Return whether an earlier command has rejected the mutant."""
    return mutant_path(mutant_id, folder).with_suffix(REJECTED_SUFFIX).is_file()
