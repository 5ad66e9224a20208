"""Define the security protocols of listeners, with the numbers of registrations (KIP-631)."""

from enum import IntEnum
from typing import Final


class SecurityProtocol(IntEnum):
    """The protocol of a listener: whether TLS hides the bytes, and whether clients log in."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def has_tls(self) -> bool:
        """Return whether the bytes of the listener are inside TLS."""
        return self in {SecurityProtocol.SSL, SecurityProtocol.SASL_SSL}

    @property
    def has_sasl(self) -> bool:
        """Return whether a client must log in with SASL."""
        return self in {SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL}


PLAINTEXT_LISTENER: Final = "PLAINTEXT"
"""The name of a listener without a name in listener.security.protocol.map."""
