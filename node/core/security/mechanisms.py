"""Name the SASL mechanisms that the node knows, and the numbers of the SCRAM mechanisms."""

from collections.abc import Mapping
from typing import Final

PLAIN: Final = "PLAIN"
SCRAM_SHA_256: Final = "SCRAM-SHA-256"
SCRAM_SHA_512: Final = "SCRAM-SHA-512"
SCRAM_NUMBERS: Final[Mapping[str, int]] = {SCRAM_SHA_256: 1, SCRAM_SHA_512: 2}
"""The mechanisms of credentials, with their numbers in requests and records (KIP-554)."""
SCRAM_NAMES: Final[Mapping[int, str]] = {number: name for name, number in SCRAM_NUMBERS.items()}
MECHANISMS: Final = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512)
MIN_ITERATIONS: Final = 4096
"""Minimum number of iterations of a credential (RFC 7677)."""
MAX_ITERATIONS: Final = 16384
"""Maximum number of iterations of a credential, as in Kafka."""
