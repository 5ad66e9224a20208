"""Values in messages: whatever a user gave is cut to what a line can hold, and the cut is visible.

Every message of checkers and kraftproof that quotes a value, a key, a path's content or another
program's words takes the text from here.
"""

import re
from typing import Final

import msgspec

OTHER_VALUE: Final = "another value"
"""Words for every value that no operation of a history finds: which of them makes no difference."""
LONGEST_VALUE: Final = 200
"""Maximum number of characters of a value in a message."""
LONGEST_LISTED_VALUE: Final = 60
"""Characters of one value where many stand below each other, as in an explanation."""
LONGEST_LINE: Final = 1000
"""Maximum number of characters of a line of an error."""

_LONG_WORD: Final = re.compile(rf"[^\s/]{{{LONGEST_VALUE + 20},}}")
"""A word that nobody has cut: a cut value may have quotes and a name before the value."""


def shortened(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return a short text unchanged, or the beginning and the length of a long text: abc...

    (1,342,117 characters).

    Args:
        text: the text.
        longest: how many characters of the text are kept.
    """
    if len(text) <= longest:
        return text
    return f"{text[:longest]}... ({len(text):,} characters)"


def without_long_words(text: str) -> str:
    """Return a text in which each word, or name in a path, of more than 200 characters is cut."""
    return _LONG_WORD.sub(lambda match: shortened(match[0]), text)


def without_middle(text: str, longest: int = LONGEST_LISTED_VALUE) -> str:
    """Return a short text unchanged, or the two ends of a long text."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def shown(value: object, longest: int = LONGEST_VALUE) -> str:
    """Return a value as people read it: text as it stands, an object as name=value, else JSON."""
    return shortened(_readable(value), longest)


def as_json(value: object, longest: int = LONGEST_VALUE) -> str:
    """Return a value as JSON, equal for equal values, cut."""
    return shortened(msgspec.json.encode(value, order="sorted").decode(), longest)


def _readable(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " ".join(f"{name}={_readable(one)}" for name, one in value.items())
    return msgspec.json.encode(value).decode()
