"""Hide a secret from every text: logs, errors, reports and the texts of larger values."""

from typing_extensions import override


class Secret:
    """A password or a key; `value` is the only way to the text."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    @override
    def __repr__(self) -> str:
        """Return no part of the secret."""
        return "[hidden]"

    @override
    def __eq__(self, other: object) -> bool:
        """Compare the secrets."""
        return isinstance(other, Secret) and self.value == other.value

    @override
    def __hash__(self) -> int:
        """Return the hash of the secret."""
        return hash(self.value)
