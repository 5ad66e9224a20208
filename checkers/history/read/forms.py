"""Finds the form of a history by the beginning of its file, or else by the file name.

See the neighbouring modules for reading each form.
"""

import re
from pathlib import Path
from typing import Final

from kraftproof.checkers.history.read.jepsen import is_log_line
from kraftproof.checkers.history.unpacking import UNREADABLE, open_unpacked, without_packing

PARQUET_SUFFIX: Final = ".parquet"
_BY_SUFFIX: Final = {
    ".jsonl": "json",
    ".json": "json",
    ".edn": "edn",
    ".log": "log",
    PARQUET_SUFFIX: "parquet",
}
_BEGINNING_BYTES: Final = 64 << 10
_PARQUET: Final = b"PAR1"
_JSON: Final = re.compile(rb"\s*(?:\[\s*)?\{\s*\"")
_EDN: Final = re.compile(rb"(?:[\s,]|;.*\n|#_)*[\[(]?(?:[\s,]|;.*\n)*(?:#[\w.]+\s*)?\{[\s,]*:")
_EDN_MARK: Final = re.compile(rb"\s*[#;]")
_ARRAY_OF_EVENTS: Final = re.compile(rb"\s*\[\s*\{[^}]*\"process\"\s*:")


def form_of(path: Path) -> str:
    """Return "json", "edn", "log" or "parquet"; JSON lines where neither says anything."""
    if path.is_dir():
        return "parquet"
    return form_by_content(path) or _BY_SUFFIX.get(without_packing(path).suffix) or "json"


def form_by_content(path: Path) -> str | None:
    """Return the form shown by the beginning of a file, None if unknown."""
    text = _beginning(path)
    if text.startswith(_PARQUET):
        return "parquet"
    text = text.removeprefix(b"\xef\xbb\xbf")
    if _JSON.match(text):
        return "json"
    if _EDN.match(text):
        return "edn"
    first = next((line.strip() for line in text.splitlines() if line.strip()), b"")
    if is_log_line(first):
        return "log"
    is_named_log = without_packing(path).suffix == ".log"
    return "edn" if _EDN_MARK.match(text) and not is_named_log else None


def is_array_of_events(path: Path) -> bool:
    """Return whether a file begins as a JSON array of events does."""
    return _ARRAY_OF_EVENTS.match(_beginning(path)) is not None


def _beginning(path: Path) -> bytes:
    """Return the beginning of a file.

    Empty for an unreadable file, which its reader will report.
    """
    try:
        with open_unpacked(path) as file:
            return file.read(_BEGINNING_BYTES)
    except UNREADABLE:
        return b""
