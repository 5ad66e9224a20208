"""Tell findings apart: equal fingerprints mean probably the same bug."""

import re
from hashlib import sha256
from typing import Final

DIGITS: Final = 10
_NAMES: Final = re.compile(r"[\w.:\-\[\]{}\"',]*\d[\w.:\-\[\]{}\"',]*")
"""A word with a digit: a number, a time, a key or an id."""


def fingerprint(subject: str, check: str, sentence: str) -> str:
    """Return the fingerprint of a finding.

    Args:
        subject: The system or model.
        check: The name of the check.
        sentence: The finding in words; numbers, times and keys do not count.
    """
    shape = _NAMES.sub("#", sentence)
    return sha256(f"{subject}\n{check}\n{shape}".encode()).hexdigest()[:DIGITS]
