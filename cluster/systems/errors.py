"""A table of a system's errors: what an error says about an operation.

Only an error that says for certain that nothing was done is `fail`. Any other error is `info` for
an operation that changes state. A failed read is always `fail`, since a read changes no state.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kraftproof.cluster.systems.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTable:
    """The errors of one system.

    Attributes:
        reads: The operations that change nothing.
        refusals: By operation, the errors after which it is certain that nothing was done.
    """

    reads: Collection[str] = frozenset()
    refusals: Mapping[str, Collection[object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a table that would say something else than it seems to say.

        Raises:
            ValueError: one line that names the field and what is expected.
        """
        _refuse_other("reads", self.reads)
        if not _is_of(Mapping, self.refusals):
            raise ValueError(f"refusals {self.refusals!r}: a dict by operation is expected")
        for name, errors in self.refusals.items():
            _refuse_other(f"refusals[{name!r}]", errors)
        if "*" in {*self.reads, *self.refusals}:
            raise ValueError("'*' stands for no operation: name each operation of the client")

    def of(self, f: str, error: object) -> Outcome:
        """Return the outcome of an operation that was answered by an error."""
        if f in self.reads or error in self.refusals.get(f, ()):
            return Outcome.FAIL
        return Outcome.INFO

    def of_silence(self, f: str) -> Outcome:
        """Return the outcome of an operation that was sent and not answered."""
        return Outcome.FAIL if f in self.reads else Outcome.INFO


def _refuse_other(name: str, value: object) -> None:
    """Refuse a text, whose parts would match, and the text `*`, which matches nothing."""
    if isinstance(value, str) or not _is_of(Collection, value):
        raise ValueError(f"{name} {value!r}: a set is expected, such as {{'unequal'}}")
    if isinstance(value, Collection) and "*" in value:
        raise ValueError(f"{name}: '*' stands for nothing: name each one")


def _is_of(kind: type, value: object) -> bool:
    return isinstance(value, kind)
