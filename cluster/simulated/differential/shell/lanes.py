"""The connections of a compared shell: which requests share one, and the timers that are kept."""

from collections import Counter
from collections.abc import Sequence

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.shell.ports import Connection, Timer
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest


class Lanes:
    """All connections, with one open connection for each listener and kind of requests.

    Answers keep the order of requests, and a Fetch may wait at the leader, so a Fetch must hold up
    neither the requests of elections nor the requests of clients.
    """

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self._connect_ends: list[int] = []
        """When each Forward gives up the wait for a connection."""

    def connect(self, one: Connection) -> None:
        """Begin a connection."""
        for other in self.connections:
            check(
                "one connection of a lane at a time",
                other.owner is not one.owner or other.is_closed,
            )
        self.connections.append(one)

    def send(self, one: Connection, request: Send | Forward, now_ns: int) -> None:
        """Send a request over a connection."""
        check("an open connection", not one.is_closed)
        listener = (request.destination, isinstance(request, Send) and request.is_to_broker)
        same("the listener of a request", one.listener, listener)
        traffic = _traffic(request)
        one.traffic = one.traffic or traffic
        same("the kind of requests on a connection", one.traffic, traffic)
        lane = [
            other
            for other in self.connections
            if (other.listener, other.traffic) == (listener, traffic) and not other.is_closed
        ]
        same("open connections for a kind of requests", len(lane), 1)
        if isinstance(request, Forward) and not one.is_established:
            self._connect_ends.append(now_ns + request.connect_ns)

    def judge_timers(self, timers: Sequence[Timer]) -> None:
        """Compare the timers that still run with the open connections: one each, for time-outs."""
        running = Counter(one.due_ns for one in timers if one.action is not None)
        kept = sum((running - Counter(self._connect_ends)).values())
        is_open = sum(not one.is_closed for one in self.connections)
        check(f"{kept} timers of time-outs for {is_open} open connections", kept <= is_open)


def _traffic(request: Send | Forward) -> str:
    if isinstance(request, Forward):
        return "forward"
    is_fetch = isinstance(request.message, FetchRequest | FetchSnapshotRequest)
    return "fetch" if is_fetch else "other"
