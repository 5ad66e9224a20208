"""The toxics of Toxiproxy that make a link fault."""

from dataclasses import dataclass

from kraftproof.cluster.capabilities import LinkFault

NS_PER_MS = 1_000_000
KILOBYTE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Toxic:
    """A toxic: its type, its attributes, and the share of the connections that have it."""

    type: str
    attributes: tuple[tuple[str, int], ...]
    toxicity: float = 1.0


def toxics_of(fault: LinkFault) -> tuple[Toxic, ...]:
    """Return the toxics of a fault; a rate is at least 1 kB/s."""
    found = []
    if fault.slow_ns:
        latency = fault.slow_ns // NS_PER_MS
        found.append(Toxic(type="latency", attributes=(("latency", latency), ("jitter", 0))))
    if fault.bandwidth:
        rate = max(1, fault.bandwidth // KILOBYTE)
        found.append(Toxic(type="bandwidth", attributes=(("rate", rate),)))
    if fault.close_ns:
        delay = fault.close_ns // NS_PER_MS
        found.append(Toxic(type="slow_close", attributes=(("delay", delay),)))
    if fault.limit:
        found.append(Toxic(type="limit_data", attributes=(("bytes", fault.limit),)))
    if fault.reset:
        attributes = (("timeout", 0),)
        found.append(Toxic(type="reset_peer", attributes=attributes, toxicity=fault.reset))
    return tuple(found)
