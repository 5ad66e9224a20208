"""A mutant as a value: what is wrong, and the edits that make it so. Not: applying them."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal


class MutantMismatchError(ValueError):
    """The node has changed under a mutant: its old text is not there exactly once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One replacement in one module of the node."""

    module: str
    old: str
    new: str

    def apply(self, source: str) -> str:
        """Return the source with the edit made.

        Raises:
            MutantMismatchError: the old text is not there, or more than once.
        """
        found = source.count(self.old)
        if found != 1:
            line = self.old.strip().splitlines()[0]
            raise MutantMismatchError(
                f"{self.module}: {line!r} and what follows is there {found} times, must be once"
            )
        return source.replace(self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One bug."""

    mutant_id: str
    title: str
    source: str
    """Where it is documented."""
    edits: tuple[Edit, ...]
    expected: str = ""
    """The invariant or checker that has to notice it, if the source or its class says so."""
    kind: Literal["S", "L"] = "S"
    """Whether it breaks safety, or progress within bounds."""
    kafka: Literal["killed", "survived"] | None = None
    """What Kafka's own simulation said, of the mutants that were planted there as well."""

    @property
    def fingerprint(self) -> str:
        """The hash of the edits, for run.json."""
        content = json.dumps([asdict(edit) for edit in self.edits], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it edits, each once, sorted."""
        return tuple(sorted({edit.module for edit in self.edits}))

    def mutate(self, module: str, source: str) -> str:
        """Return a module's source with all its edits made, each on what the last one left.

        Raises:
            MutantMismatchError: an edit does not fit.
        """
        for edit in self.edits:
            if edit.module == module:
                source = edit.apply(source)
        return source
