"""Count the connections of each client software, and the requests of each kind (KIP-511).

Clients choose their names, so the number of counted names has a bound; further names count as
`other`.
"""

from collections import Counter
from typing import Final

from kraftproof.node.core.broker.answers import SOFTWARE, SOFTWARE_NAMED_FROM
from kraftproof.node.server.metrics.catalogue import NETWORK, SERVER
from kraftproof.node.server.metrics.figures import Figure
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.schema import Message

MOST_NAMES: Final = 100
OTHER: Final = ("other", "other")
UNKNOWN: Final = ("unknown", "unknown")
Software = tuple[str, str]
"""The name and the version of a client's software."""
_REQUEST: Final = "Request"


def named_software(message: Message, version: int) -> Software | None:
    """Return the software that a request names; `unknown` for a version without names."""
    if not isinstance(message, ApiVersionsRequest):
        return None
    if version < SOFTWARE_NAMED_FROM:
        return UNKNOWN
    software = (message.client_software_name, message.client_software_version)
    return software if all(map(SOFTWARE.fullmatch, software)) else None


class ClientMetrics:
    """The figures about clients of one node."""

    __slots__ = ("_connections", "_milliseconds", "_requests")

    def __init__(self) -> None:
        self._connections: Counter[Software] = Counter()
        self._requests: Counter[str] = Counter()
        self._milliseconds: dict[str, float] = {}

    def connected(self, software: Software) -> Software:
        """Count a connection; return the names under which the connection counts."""
        if software not in self._connections and len(self._connections) >= MOST_NAMES:
            software = OTHER
        self._connections[software] += 1
        return software

    def disconnected(self, counted: Software) -> None:
        """Forget a connection that `connected` has counted."""
        self._connections[counted] -= 1
        if self._connections[counted] <= 0:
            del self._connections[counted]

    def answered(self, request: Message, milliseconds: float) -> None:
        """Count an answered request and its time."""
        name = type(request).__name__.removesuffix(_REQUEST)
        self._requests[name] += 1
        self._milliseconds[name] = self._milliseconds.get(name, 0.0) + milliseconds

    def figures(self) -> list[Figure]:
        """Return the figures, in order of names."""
        connections = f"{SERVER}socket_server_metrics_connections"
        requests = f"{NETWORK}request_metrics_requests"
        times = f"{NETWORK}request_metrics_total_time_ms"
        return [
            *(
                Figure(connections, count, software)
                for software, count in sorted(self._connections.items())
            ),
            *(Figure(requests, count, (name,)) for name, count in sorted(self._requests.items())),
            *(Figure(times, sum_, (name,)) for name, sum_ in sorted(self._milliseconds.items())),
        ]
