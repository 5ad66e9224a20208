"""Read the windows over which the rates of clients are measured (KIP-13, KIP-599)."""

from typing import Final

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.properties.keys import QUOTA_KEYS, Reader

_BYTES: Final = QUOTA_KEYS[:2]
_MUTATIONS: Final = QUOTA_KEYS[2:]


def read_byte_quotas(reader: Reader) -> QuotaPolicy:
    """Return the windows for the bytes of clients.

    Raises:
        ConfigError: a value is out of bounds.
    """
    return _read(reader, *_BYTES)


def read_mutation_quotas(reader: Reader) -> QuotaPolicy:
    """Return the windows for the changes of partitions.

    Raises:
        ConfigError: a value is out of bounds.
    """
    return _read(reader, *_MUTATIONS)


def _read(reader: Reader, number_key: str, seconds_key: str) -> QuotaPolicy:
    default = QuotaPolicy()
    seconds = default.window_ns // milliseconds(1000)
    return QuotaPolicy(
        windows=reader.integer(number_key, default.windows, 1),
        window_ns=milliseconds(1000 * reader.integer(seconds_key, seconds, 1)),
    )
