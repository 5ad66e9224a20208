"""The budget for created and deleted partitions, at the active controller (KIP-599)."""

import pytest

from kraftproof.cluster.simulated.node.table_sizes import table_sizes
from kraftproof.node.core.quotas.mutations import STRICT_FROM
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_partitions_request
from kraftproof.node.wire.principal import Principal
from tests.node.core.controller.desk import Desk, creation, deletion
from tests.node.core.controller.test_quotas import entry, request

S = 1_000_000_000
STRICT, LENIENT = 7, 5
THROTTLED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


def desk(rate: float = 2) -> Desk:
    """A controller whose client alice may change some partitions a second."""
    found = Desk.active(brokers=1)
    found.ask(request(entry({"user": "alice"}, ("controller_mutation_rate", rate))))
    return found


def codes(answer: object) -> list[int]:
    """The error codes of the topics of an answer."""
    results = getattr(answer, "topics", None) or getattr(answer, "responses", None)
    return [result.error_code for result in results or answer.results]  # type: ignore[attr-defined]


def test_a_strict_request_is_refused_while_the_bucket_is_below_zero() -> None:
    busy = desk()
    assert codes(busy.ask(creation("a", partitions=22), version=STRICT)) == [0]
    assert codes(busy.ask(creation("b", partitions=10), version=STRICT)) == [0]
    refused = busy.ask(creation("c"), version=STRICT)
    assert codes(refused) == [THROTTLED]
    assert refused.topics[0].error_message == "The throttling quota has been exceeded."
    assert refused.throttle_time_ms == 5000
    assert busy.image.topic_named("c") is None
    busy.monotonic += 5 * S
    again = busy.ask(creation("c"), version=STRICT)
    assert (codes(again), again.throttle_time_ms) == ([0], 0)


def test_a_lenient_request_is_carried_out_and_the_client_waits() -> None:
    busy = desk()
    answer = busy.ask(creation("a", partitions=32), version=LENIENT)
    assert (codes(answer), answer.throttle_time_ms) == ([0], 5000)
    more = busy.ask(creation("b", partitions=2), version=LENIENT)
    assert (codes(more), more.throttle_time_ms) == ([0], 6000)


def test_deletions_and_new_partitions_are_charged_as_well() -> None:
    busy = desk()
    busy.ask(creation("a", partitions=20), version=STRICT)
    busy.ask(deletion("a"), version=6)
    refused = busy.ask(creation("b"), version=STRICT)
    assert (codes(refused), refused.throttle_time_ms) == ([THROTTLED], 9000)
    busy.monotonic += 20 * S
    busy.ask(creation("b", partitions=1), version=STRICT)
    module = create_partitions_request
    growth = module.CreatePartitionsRequest(
        topics=(module.CreatePartitionsTopic(name="b", count=32, assignments=None),),
        timeout_ms=1000,
    )
    assert codes(busy.ask(growth, version=3)) == [0]
    assert codes(busy.ask(deletion("b"), version=6)) == [THROTTLED]
    assert busy.image.topic_named("b") is not None


def test_a_refused_topic_costs_nothing() -> None:
    busy = desk()
    busy.ask(creation("a", partitions=21), version=STRICT)
    for _ in range(5):
        assert codes(busy.ask(creation("a"), version=STRICT)) == [ErrorCode.TOPIC_ALREADY_EXISTS]
    assert codes(busy.ask(creation("b"), version=STRICT)) == [0]


def test_a_client_without_a_quota_is_never_throttled() -> None:
    busy = desk(rate=0.5)
    busy.ask(creation("a", partitions=30), version=STRICT)
    busy.principal = Principal(type="User", name="bob")
    answer = busy.ask(creation("b", partitions=100), version=STRICT)
    assert (codes(answer), answer.throttle_time_ms) == ([0], 0)
    busy.principal = Principal(type="User", name="alice")
    assert codes(busy.ask(creation("c"), version=STRICT)) == [THROTTLED]


def test_a_forwarded_request_is_charged_to_its_client() -> None:
    busy = desk()
    busy.ask(creation("a", partitions=30), version=STRICT, forwarded=True)
    refused = busy.ask(creation("c"), version=STRICT, forwarded=True)
    assert (codes(refused), refused.throttle_time_ms) == ([THROTTLED], 4000)


def test_a_debt_is_forgotten_after_an_hour_without_use() -> None:
    """The debt of a client that never came again kept the budgets of all later clients."""
    busy = Desk.active(brokers=1)
    busy.ask(request(entry({"user": None}, ("controller_mutation_rate", 1e-3))))
    counts = []
    for number, pause in enumerate((0, S, 3599 * S - 1, 1, 2 * S)):
        busy.monotonic += pause
        busy.principal = Principal(type="User", name=f"user-{number}")
        assert codes(busy.ask(creation(f"t{number}", partitions=20), version=STRICT)) == [0]
        counts.append(dict(table_sizes(busy.controller))["MutationQuotas.buckets"])
    assert counts == [1, 2, 3, 3, 3]


@pytest.mark.parametrize("kind", STRICT_FROM)
def test_each_measured_request_has_an_older_version_without_the_error(kind: type) -> None:
    assert kind.MIN_VERSION < STRICT_FROM[kind] <= kind.MAX_VERSION  # type: ignore[attr-defined]
