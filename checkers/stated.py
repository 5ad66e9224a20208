"""The user's statements on a history."""

import msgspec


class InitialValues(msgspec.Struct, frozen=True, kw_only=True):
    """The initial values of a system, as JSON.

    Attributes: default: the value of keys without their own value; None if unstated.
        by_key: the values of some keys.
        may_be_absent: whether a history may lack those keys.
    """

    default: str | None = None
    by_key: dict[str, str] = {}
    may_be_absent: bool = False

    def is_stated(self, key: str) -> bool:
        """Return whether the value of a key is stated."""
        return key in self.by_key or self.default is not None

    def of(self, key: str) -> object:
        """Return the stated value of a key."""
        return msgspec.json.decode(self.by_key.get(key) or self.default or "null")
