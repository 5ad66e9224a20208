"""Completed operations of a run in compact columns: about 40 bytes per operation.

A run of hours keeps all operations in memory for the figures and the report. Values are only in the
history file.
"""

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from kraftproof.cluster.systems.system import Outcome


class DoneOperation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A completed operation with the fields of the figures and the report."""

    f: str
    outcome: Outcome
    invoke_ns: int
    complete_ns: int
    key: str = ""


class DoneOperations:
    """The completed operations of a run in the order of their completions."""

    __slots__ = ("_complete_ns", "_functions", "_invoke_ns", "_keys", "_keys_end", "_names", "ok")

    def __init__(self, operations: Iterable[DoneOperation] = ()) -> None:
        self.ok = 0
        """Number of successful operations."""
        self._names: dict[tuple[str, Outcome], int] = {}
        self._functions = array("H")  # indexes into _names
        self._invoke_ns = array("q")
        self._complete_ns = array("q")
        self._keys = bytearray()  # all keys concatenated, in UTF-8
        self._keys_end = array("q")
        for one in operations:
            self.add(one)

    def add(self, one: DoneOperation) -> None:
        """Append a completed operation."""
        self.ok += one.outcome is Outcome.OK
        name = self._names.setdefault((one.f, one.outcome), len(self._names))
        self._functions.append(name)
        self._invoke_ns.append(one.invoke_ns)
        self._complete_ns.append(one.complete_ns)
        self._keys += one.key.encode()
        self._keys_end.append(len(self._keys))

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[DoneOperation]:
        names = list(self._names)
        begin = 0
        for name, invoke_ns, complete_ns, end in zip(
            self._functions, self._invoke_ns, self._complete_ns, self._keys_end, strict=True
        ):
            f, outcome = names[name]
            key = self._keys[begin:end].decode()
            begin = end
            yield DoneOperation(
                f=f, outcome=outcome, invoke_ns=invoke_ns, complete_ns=complete_ns, key=key
            )
