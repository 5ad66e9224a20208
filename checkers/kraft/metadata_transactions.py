"""Selects the records of the metadata log that take effect (KIP-868 "Metadata Transactions").

The records between BeginTransaction and EndTransaction take effect together at the end: an
AbortTransaction drops the records, and so does a log that ends within its transaction.
"""

from collections.abc import Iterable, Iterator
from typing import Final

BEGIN: Final = "BEGIN_TRANSACTION_RECORD"
END: Final = "END_TRANSACTION_RECORD"
ABORT: Final = "ABORT_TRANSACTION_RECORD"


def effective(records: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the records (type, JSON) that take effect, in the order of the log."""
    held: list[tuple[str, str]] | None = None
    for kind, fields in records:
        if kind == BEGIN:
            held = [] if held is None else held
        elif kind in {END, ABORT}:
            yield from held or () if kind == END else ()
            held = None
        elif held is None:
            yield kind, fields
        else:
            held.append((kind, fields))
