"""Ports of a service of a Compose file, in the short and in the long form."""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.values import mapping, number, text

LAST_PORT: Final = 65_535
_PORT: Final = re.compile(r"(?:(?:.*:)?\d*:)?(\d+)(?:/(tcp|udp))?")
_LONG: Final = ("target", "published", "protocol", "mode", "host_ip", "name", "app_protocol")


def ports_of(
    values: Mapping[str, object], places: Mapping[str, Place]
) -> tuple[tuple[int, ...], bool]:
    """Return the TCP ports of the container, and whether it has others.

    Raises:
        ComposeFileError: there is no port, or a port has a mistake; one line.
    """
    found: dict[int, None] = {}
    has_udp = False
    for key in ("ports", "expose"):
        value, place = values.get(key), places[key]
        if isinstance(value, Mapping):
            raise place.error("a list is expected, not a map")
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            port, protocol = _port(one, place)
            if not 0 < port <= LAST_PORT:
                raise place.error(f"{port}: a port from 1 to {LAST_PORT} is expected")
            has_udp |= protocol == "udp"
            if protocol == "tcp":
                found[port] = None
    if not found:
        raise places["ports"].error(
            "is missing, and so is expose: a node needs a TCP port for clients and for faults of "
            "links"
        )
    return tuple(found), has_udp


def _port(value: object, place: Place) -> tuple[int, str]:
    if isinstance(value, Mapping):
        found = mapping(value, place, known=_LONG)
        protocol = text(found.get("protocol", "tcp"), place.at("protocol"))
        if protocol not in {"tcp", "udp"}:
            raise place.at("protocol").error(f"{protocol!r}: tcp or udp is expected")
        return number(found.get("target"), place.at("target")), protocol
    match = _PORT.fullmatch(text(value, place))
    if match is None:
        raise place.error(
            f"{value!r}: a port such as 8080:80 is expected; ranges are not supported"
        )
    return int(match[1]), match[2] or "tcp"
