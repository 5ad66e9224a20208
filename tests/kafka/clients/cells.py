"""Compare a measured outcome with docs/clients.tsv, or write the outcome. No tests here."""

import os
from pathlib import Path
from typing import Final

from scripts.clients_page import RECORD, TABLE, read_cells

_EXPECTED: Final = read_cells(TABLE)


def settle(client: str, call: str, measured: str) -> None:
    """Assert that an outcome is that of the page; `python -m scripts.clients_page` records."""
    record = os.environ.get(RECORD)
    if record:
        with Path(record).open("a", encoding="utf-8") as file:
            file.write(f"{client}\t{call}\t{measured}\n")
        return
    expected = _EXPECTED.get((client, call))
    assert measured == expected, f"{client}: {call}; see scripts/clients_page.py"
