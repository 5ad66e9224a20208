"""A request that a node holds longer than the request allows is a violation."""

import pytest

from kraftproof.cluster.simulated.invariants.open_requests import EveryRequestEnds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import create_topics_request, unregister_broker_request
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness

SECOND_NS = 1_000_000_000
UNREGISTER = unregister_broker_request.UnregisterBrokerRequest()
ALLOWED_S = CONFIG.timeouts.request_ns // SECOND_NS + 2


def received(message, token: int = 1) -> Received:
    return Received(
        request=token,
        message=message,
        version=1,
        on_controller_listener=True,
        principal=ANONYMOUS,
        client_host="h",
        forwarded_by=None,
    )


class Holding:
    """A node that steps each half second, and holds some requests."""

    def __init__(self, *held: Received, incarnation: int = 1) -> None:
        self.harness = MonitorHarness(EveryRequestEnds(CONFIG))
        self.process = self.harness.process(1, incarnation=incarnation)
        self.process.unanswered = list(held)

    def runs(self, seconds: float) -> list[str]:
        for _ in range(round(seconds * 2)):
            self.process.steps()
            self.harness.now_ns += SECOND_NS // 2
        return [one.detail for one in self.harness.monitor.violations]


def test_a_request_that_is_held_too_long_is_found() -> None:
    holding = Holding(received(UNREGISTER))
    assert holding.runs(ALLOWED_S + 0.5) == []
    assert holding.runs(1)[0].startswith("UnregisterBrokerRequest: no answer for")


def test_the_client_may_allow_more() -> None:
    create = create_topics_request.CreateTopicsRequest(timeout_ms=30_000)
    holding = Holding(received(create))
    assert holding.runs(32) == []
    assert holding.runs(2)


def test_answered_requests_are_forgotten() -> None:
    holding = Holding()
    for token in range(100):
        holding.process.unanswered = [received(UNREGISTER, token)]
        assert holding.runs(0.5) == []


def test_pauses_do_not_count() -> None:
    holding = Holding(received(UNREGISTER))
    assert holding.runs(1) == []
    holding.process.sleeps(100 * SECOND_NS)
    assert holding.runs(1) == []


@pytest.mark.parametrize(("rate_error", "found"), [(0.0, True), (0.4, False)])
def test_a_slow_clock_may_take_longer(rate_error: float, found: bool) -> None:
    holding = Holding(received(UNREGISTER))
    holding.harness.monitor.rate_error = rate_error
    assert bool(holding.runs(ALLOWED_S + 1.5)) == found
