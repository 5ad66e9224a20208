"""Selects the records of the metadata log that take effect (KIP-868 "Metadata Transactions").

The records between BeginTransaction and EndTransaction take effect together at the end: an
AbortTransaction drops the records, and so does a log that ends within its transaction.
"""

from collections.abc import Iterable, Iterator
from typing import Final

BEGIN: Final = "BEGIN_TRANSACTION_RECORD"
END: Final = "END_TRANSACTION_RECORD"
ABORT: Final = "ABORT_TRANSACTION_RECORD"


Record = tuple[int, str, str]
"""(offset, type, JSON)."""


def effective(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that take effect, in the order of the log."""
    held: list[Record] | None = None
    for record in records:
        kind = record[1]
        if kind == BEGIN:
            held = [] if held is None else held
        elif kind in {END, ABORT}:
            yield from held or () if kind == END else ()
            held = None
        elif held is None:
            yield record
        else:
            held.append(record)
