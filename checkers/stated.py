"""What a user states of a history that the history does not say itself."""

import msgspec


class InitialValues(msgspec.Struct, frozen=True, kw_only=True):
    """What a system holds before the first operation, as JSON.

    Attributes:
        default: the value of every key that has none of its own; None if nothing is stated.
        by_key: the values of some keys.
        may_be_absent: whether a history may lack those keys.
    """

    default: str | None = None
    by_key: dict[str, str] = {}
    may_be_absent: bool = False

    def is_stated(self, key: str) -> bool:
        """Says whether the value of a key is stated."""
        return key in self.by_key or self.default is not None

    def of(self, key: str) -> object:
        """Returns the stated value of a key."""
        return msgspec.json.decode(self.by_key.get(key) or self.default or "null")
