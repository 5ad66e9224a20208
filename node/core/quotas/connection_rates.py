"""Slow addresses that open connections faster than their quota allows (KIP-612).

An address has a quota `connection_creation_rate`, or else the default. A connection above the rate
does not count: the node reads no byte, and ends the connection after the wait, at most a window.
"""

import ipaddress
from collections.abc import Mapping

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.quotas import CONNECTION_RATE, IP, NO_QUOTAS, Quotas
from kraftproof.node.core.quotas.rate import RateTable


class ConnectionRates:
    """The rates of the addresses that connect to a node."""

    __slots__ = ("_bounds", "_default", "_longest_ms", "_quotas", "_rates")

    def __init__(self, policy: QuotaPolicy) -> None:
        self._longest_ms = policy.window_ns // NANOSECONDS_PER_MS
        self._quotas = NO_QUOTAS
        self._bounds: Mapping[str, float] = {}
        """Connections a second, by the usual form of an address."""
        self._default: float | None = None
        self._rates: RateTable[str] = RateTable(policy)

    def follow(self, image: MetadataImage) -> None:
        """Take the quotas of a newer image."""
        if image.quotas is not self._quotas:
            self._quotas = image.quotas
            self._bounds, self._default = _bounds(image.quotas)

    def wait_ms(self, host: str, now: Monotonic) -> int:
        """Count a connection; above the rate, return the milliseconds to its end, and else 0."""
        address = _usual_form(host)
        bound = self._bounds.get(address, self._default)
        if bound is None:
            return 0
        rate = self._rates.of(address, now)
        rate.record(1, now)
        wait_ms = min(rate.wait_ms(bound, now), self._longest_ms)
        if wait_ms > 0:
            rate.record(-1, now)
        return wait_ms


def _bounds(quotas: Quotas) -> tuple[Mapping[str, float], float | None]:
    """Return the rates of single addresses, and the default rate."""
    found: dict[str, float] = {}
    default: float | None = None
    for entity, values in quotas.by_entity.items():
        bound = values.get(CONNECTION_RATE, 0.0)
        if len(entity) != 1 or entity[0][0] != IP or bound <= 0:
            continue
        name = entity[0][1]
        if name is None:
            default = bound
        else:
            found[_usual_form(name)] = bound
    return found, default


def _usual_form(host: str) -> str:
    """Return the same text for each notation of an address, and other texts unchanged."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
