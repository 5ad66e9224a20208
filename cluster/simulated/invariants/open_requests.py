"""The invariant of requests that wait for their answers (docs/decisions/0265).

The invariant looks at the open requests of a process now and then, so that it costs nothing per
request. See AnswersComeOnceInOrder in background/random_requests.py for the client's view.
"""

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant, ProcessView
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Received

SLACK_NS = milliseconds(2_000)
"""Time of an answer beyond the time that the request allows."""


class EveryRequestEnds(Invariant):
    """A request that is never answered holds its connection, and all requests behind it."""

    statement = "A node answers each request within the time that the request allows, and 2 s more."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._request_ns = config.timeouts.request_ns
        self._seen: dict[int, dict[tuple[int, int], int]] = {}
        """By node, then incarnation and token: the running time of the first look at a request."""

    @override
    def on_look(self, process: ProcessView) -> None:
        running_ns = process.running_ns()
        before = self._seen.get(process.node_id, {})
        seen: dict[tuple[int, int], int] = {}
        for event in process.open_requests():
            key = (process.incarnation, event.request)
            seen[key] = before.get(key, running_ns)
            waited_ns = running_ns - seen[key]
            if waited_ns > self._allowed_ns(event):
                detail = f"{type(event.message).__name__}: no answer for {waited_ns / 1e9:.1f} s"
                self.monitor.report_violation(self, process, detail)
        self._seen[process.node_id] = seen

    def _allowed_ns(self, event: Received) -> int:
        """Return the time that a request allows, stretched as far as a clock may be slow."""
        message = event.message
        named_ms = getattr(message, "timeout_ms", getattr(message, "max_wait_ms", 0))
        allowed_ns = max(milliseconds(named_ms), self._request_ns) + SLACK_NS
        return int(allowed_ns * (1 + 2 * self.monitor.rate_error))
