"""Explains the first few invalid keys of a judged history.

The module judges nothing: the verdict's findings name the keys and the operations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from kraftproof.checkers.explain.explain import DEFAULT_SECONDS, explain
from kraftproof.checkers.explain.explanation import Explanation
from kraftproof.checkers.history.faults import FaultEvent, read_faults
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.run_files import FAULTS_FILE
from kraftproof.checkers.sources import History, find_sources
from kraftproof.checkers.stated import InitialValues
from kraftproof.checkers.verdict import CheckerInputError, Finding, RunVerdict

MOST_EXPLAINED: Final = 3
_CHECK: Final = "/linearizable"


class ExplanationError(CheckerInputError):
    """A model failed while its verdict was explained; the verdict stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """An explanation with the data for its picture.

    Attributes:
        explanation: the explanation.
        operations: all operations of the key, in the order of their invocations.
        faults: the fault events of the run; empty for a bare history.
    """

    explanation: Explanation
    operations: list[Operation]
    faults: list[FaultEvent]


def read_history(
    path: Path,
    model: str | None = None,
    *,
    is_keyed: bool | None = None,
    initial: InitialValues | None = None,
) -> History:
    """Return the single history at a path.

    Raises: CheckerInputError: the history can't be read, or no model or several models fit.
    """
    source, *others = find_sources([path], model, is_keyed=is_keyed, initial=initial)
    if others:
        raise CheckerInputError(f"{path}: {len(others) + 1} histories in it: name one of them")
    return source.read()


def read_again(run: RunVerdict) -> History:
    """Return the judged history, read with the options of the check.

    Raises: CheckerInputError: the history is no longer readable.
    """
    return read_history(Path(run.history), run.model, is_keyed=run.is_keyed, initial=run.initial)


def explainable(run: RunVerdict) -> list[Finding]:
    """Return the findings that can be explained, one for each key."""
    found: dict[str, Finding] = {}
    for finding in run.findings:
        if finding.check.endswith(_CHECK) and finding.key is not None:
            found.setdefault(finding.key, finding)
    return list(found.values())


def explained(
    history: History,
    run: RunVerdict,
    *,
    most: int = MOST_EXPLAINED,
    seconds: float = DEFAULT_SECONDS,
) -> Iterator[Explained]:
    """Yield explanations of the first invalid keys.

    Args:
        history: what was judged.
        run: the verdict.
        most: for how many keys.
        seconds: the time limit of each search for one.

    Raises:
        ExplanationError: the model fails.
    """
    source = history.source
    model = source.model
    if not isinstance(model, SequentialModel):
        return
    folder = source.history.parent
    faults = [] if source.tables is None else read_faults(folder / FAULTS_FILE)
    for finding in explainable(run)[:most]:
        assert finding.key is not None
        assert finding.operation_index is not None
        operations = operations_of(
            history.table.filter(pc.equal(history.table.column("key"), finding.key))
        )
        try:
            found = explain(
                model,
                finding.key,
                operations,
                finding.operation_index,
                history=source.label,
                seconds=seconds,
                is_first=finding.is_first,
            )
        except Exception as error:
            raise ExplanationError(
                f"{source.label}: key {finding.key} can't be explained: the model {model.name}"
                f" failed: {type(error).__name__}: {error}"
            ) from error
        yield Explained(explanation=found, operations=operations, faults=faults)
