"""A violation in a simulated run: a broken invariant, or a crash of a node's code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from typing_extensions import override


class ViolationKind(StrEnum):
    """The kinds of violation; only a broken property counts as a bug found by an invariant."""

    PROPERTY = "property"
    CRASH = "crash"
    """A node's code raised an unhandled exception; even a misspelled name raises one."""
    ASSERTION = "assertion"
    """The unhandled exception of a check that the node makes of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken invariant or a crash, with its place and time."""

    invariant: str
    sentence: str
    """The statement of the invariant."""
    node: int | None
    """None for a comparison with a reference, which is apart from the cluster."""
    time_ns: int | None
    """None for a comparison."""
    detail: str
    event: int
    """Number of events of the run before the violation; it is the same at each run of the seed."""
    kind: ViolationKind = ViolationKind.PROPERTY
    traceback: str = field(default="", compare=False)
    """Python's traceback of a crash; a run with a recorder has frames of the recorder in it."""

    @override
    def __str__(self) -> str:
        if self.node is None or self.time_ns is None:
            return f"{self.invariant}: {self.sentence} {self.detail}"
        seconds = self.time_ns / 1_000_000_000
        return (
            f"{self.invariant}: {self.sentence} [node {self.node}, {seconds:.3f} s] {self.detail}"
        )


class ViolationLog:
    """The violations of a run, in order."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.count_events: Callable[[], int] = lambda: 0
        """Returns the number of events of the run so far; set by the world."""

    def record(
        self,
        invariant: str,
        statement: str,
        detail: str,
        *,
        node: int | None,
        time_ns: int | None,
        kind: ViolationKind = ViolationKind.PROPERTY,
        traceback: str = "",
    ) -> None:
        """Record a violation at a node, which need not run; None for a comparison."""
        self.violations.append(
            Violation(
                invariant=invariant,
                sentence=statement,
                node=node,
                time_ns=time_ns,
                detail=detail,
                event=self.count_events(),
                kind=kind,
                traceback=traceback,
            )
        )
