"""A mutant as a value: the description of a bug and its source edits; see hook.py for planting."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final, Literal

DATA_WORKLOAD: Final = "log"
DATA_PLANE: Final = (
    *("kraftproof.node.core.partition.", "kraftproof.node.core.broker.data."),
    *("kraftproof.node.storage.partitions.", "kraftproof.node.shell.partition_executor"),
)
"""Begins of the names of modules that only runs with the data plane execute."""


class MutantMismatchError(ValueError):
    """An edit does not fit the current source: its old text does not occur exactly once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A replacement of text in a module of the node."""

    module: str
    old: str
    new: str

    def apply(self, source: str) -> str:
        """Return the edited source.

        Raises:
            MutantMismatchError: the old text does not occur exactly once.
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
    """A bug with its source edits."""

    mutant_id: str
    title: str
    source: str
    """The document that describes the bug."""
    edits: tuple[Edit, ...]
    expected: str = ""
    """The invariant or check that must detect the bug, if the source or the class names one."""
    workload: str | None = None
    """The workload of the runs that show the bug; None for the workloads drawn from the seeds."""
    kind: Literal["S", "L"] = "S"
    """S for a violation of safety, L for a violation of bounded liveness."""
    kafka: Literal["killed", "survived"] | None = None
    """The result of Kafka's own simulation, for mutants that were planted in Kafka as well."""

    @property
    def fingerprint(self) -> str:
        """Return the hash of the edits, for run.json."""
        content = json.dumps([asdict(edit) for edit in self.edits], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def run_workload(self) -> str | None:
        """The workload of its runs: the given workload, or `log` for an edit of the data plane.

        The workloads that a seed draws have no data plane, so they cannot show such an edit.
        """
        is_data = any(module.startswith(DATA_PLANE) for module in self.modules)
        return self.workload or (DATA_WORKLOAD if is_data else None)

    @property
    def modules(self) -> tuple[str, ...]:
        """The edited modules, sorted and distinct."""
        return tuple(sorted({edit.module for edit in self.edits}))

    def mutate(self, module: str, source: str) -> str:
        """Return the source of a module after all edits of the module, in order.

        Raises:
            MutantMismatchError: an edit does not fit.
        """
        for edit in self.edits:
            if edit.module == module:
                source = edit.apply(source)
        return source
