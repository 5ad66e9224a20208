"""Changes of configurations at a broker: its own part, the controller's part, one answer."""

import pytest

from kraftproof.node.core.broker.config_changes import split
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import incremental_alter_configs_response
from kraftproof.node.wire.messages.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftproof.node.wire.records import metadata as records
from tests.node.core.broker.bench import Bench
from tests.node.core.controller.configs.asking import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    TOPIC,
    incremental,
    resource,
)

Result = incremental_alter_configs_response.AlterConfigsResourceResponse
FINE = resource(TOPIC, "t", ("retention.ms", "1"))
OWN = resource(BROKER, "1", ("num.io.threads", "9"))
READ_ONLY = resource(BROKER, "1", ("node.id", "2"))


def answer(*codes: int):
    """What the controller answers for the resources that it got."""
    results = tuple(Result(resource_type=9, error_code=code) for code in codes)
    return incremental_alter_configs_response.IncrementalAlterConfigsResponse(responses=results)


@pytest.mark.requirement("590-13")
@pytest.mark.requirement("631-90")
def test_the_rest_is_forwarded_and_the_results_are_in_the_order_of_the_request() -> None:
    of_all = resource(BROKER, "", ("num.io.threads", "9"))
    parts = split(incremental(READ_ONLY, FINE, READ_ONLY_OTHER, of_all), 1)
    assert parts.forwarded.resources == (FINE, of_all)
    merged = parts.merge(answer(3, 0))
    assert [result.error_code for result in merged.responses] == [42, 3, 42, 0]
    assert [result.resource_name for result in merged.responses if result.error_code == 42] == [
        "1",
        "2",
    ]


READ_ONLY_OTHER = resource(BROKER, "2", ("num.io.threads", "9"))
JUDGED_HERE = [
    ("read-only", READ_ONLY, 42),
    ("another broker", READ_ONLY_OTHER, 42),
    ("not for all", resource(BROKER, "", ("ssl.keystore.type", "PEM")), 42),
    ("no number", resource(BROKER, "1", ("num.io.threads", "many")), 42),
    ("below the least", resource(BROKER, "", ("num.io.threads", "0")), 42),
    ("no value", resource(TOPIC, "t", ("retention.ms", None)), 42),
    ("no list value", resource(TOPIC, "t", ("cleanup.policy", None, APPEND)), 42),
    ("no logger", resource(LOGGER, "1", ("root", "INFO")), 40),
    ("loggers of another", resource(LOGGER, "2", ("root", "INFO")), 42),
    ("no kind", resource(5, "x"), 42),
    ("no change of loggers", resource(LOGGER, "1"), 0),
]


@pytest.mark.requirement("631-90")
@pytest.mark.parametrize(
    ("change", "code"), [case[1:] for case in JUDGED_HERE], ids=[case[0] for case in JUDGED_HERE]
)
def test_the_broker_answers_at_once_for_itself(change, code: int) -> None:
    bench = Bench()
    (result,) = bench.ask(incremental(change), version=1).responses
    assert ErrorCode(result.error_code) is ErrorCode(code)
    assert (result.resource_type, result.resource_name) == (
        change.resource_type,
        change.resource_name,
    )


@pytest.mark.parametrize(
    "change",
    [
        OWN,
        resource(BROKER, "", ("num.io.threads", "9")),
        resource(BROKER, "1", ("node.id", None, DELETE), ("num.io.threads", None, DELETE)),
        resource(BROKER, "1", ("ssl.keystore.type", "PEM")),
        resource(GROUP, "", ("x", "1")),
        resource(METRICS, "m", ("x", "1")),
        resource(TOPIC, "a b", ("x", "1")),
    ],
)
def test_everything_else_is_the_controllers(change) -> None:
    if change.configs[0].name == "node.id":
        assert split(incremental(change), 1).forwarded is None, "read-only, even to delete"
    else:
        assert split(incremental(change), 1).forwarded == incremental(change)


def test_an_empty_request_goes_to_the_controller() -> None:
    assert split(incremental(), 1).forwarded == incremental()


def test_a_twice_named_resource_is_not_forwarded() -> None:
    parts = split(incremental(FINE, FINE), 1)
    assert parts.forwarded is None
    assert [result.error_code for result in parts.merge(None).responses] == [42, 42]


def test_the_answer_of_the_controller_is_merged_into_the_clients() -> None:
    bench = Bench()
    [forward] = [
        effect
        for effect in bench.receive(incremental(READ_ONLY, FINE), version=1)
        if isinstance(effect, Forward)
    ]
    assert forward.message == incremental(FINE)
    bench.outbox.resume(forward.correlation, answer(0), bench.now)
    [reply] = bench.outbox.drain()
    assert [result.error_code for result in reply.message.responses] == [42, 0]


def test_a_lost_answer_leaves_the_brokers_own_results() -> None:
    bench = Bench()
    [forward] = [
        effect
        for effect in bench.receive(incremental(READ_ONLY, FINE), version=1)
        if isinstance(effect, Forward)
    ]
    bench.outbox.resume(forward.correlation, None, bench.now)
    [reply] = bench.outbox.drain()
    assert [result.error_code for result in reply.message.responses] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.REQUEST_TIMED_OUT,
    ]


def described(bench: Bench, kind: int, name: str, *keys: str):
    asked = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys or None
    )
    request = DescribeConfigsRequest(resources=(asked,), include_synonyms=True)
    [result] = bench.ask(request, version=4).results
    return result


def shown(bench: Bench, kind: int, name: str, key: str):
    [entry] = described(bench, kind, name, key).configs
    synonyms = [(one.name, one.value, one.source) for one in entry.synonyms]
    return entry.value, entry.config_source, synonyms


@pytest.fixture
def bench() -> Bench:
    bench = Bench(static_configs=(("broker.rack", "r"), ("num.io.threads", "7")))
    image = bench.committed.image
    for kind, name, key, value in (
        (BROKER, "", "log.retention.ms", "3"),
        (BROKER, "1", "log.retention.ms", "2"),
        (BROKER, "2", "log.retention.ms", "9"),
        (BROKER, "1", "ssl.keystore.password", "secret"),
        (GROUP, "g", "consumer.session.timeout.ms", "50000"),
    ):
        record = records.ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
        image = apply_all(image, (record,))
    topic = records.TopicRecord(name="t", topic_id=b"t" * 16)
    bench.committed.image = apply_all(image, (topic,))
    return bench


@pytest.mark.requirement("631-90")
def test_a_topic_shows_the_values_of_its_broker_by_precedence(bench: Bench) -> None:
    default = ("log.retention.ms", "604800000", 5)
    of_all, of_broker = ("log.retention.ms", "3", 3), ("log.retention.ms", "2", 2)
    assert shown(bench, TOPIC, "t", "retention.ms") == ("2", 2, [of_broker, of_all, default])
    own = records.ConfigRecord(
        resource_type=TOPIC, resource_name="t", name="retention.ms", value="1"
    )
    bench.committed.image = apply_all(bench.committed.image, (own,))
    value, source, synonyms = shown(bench, TOPIC, "t", "retention.ms")
    assert (value, source) == ("1", 1)
    assert synonyms == [("retention.ms", "1", 1), of_broker, of_all, default]
    assert shown(bench, TOPIC, "t", "segment.ms")[:2] == ("604800000", 5)


@pytest.mark.requirement("631-90")
def test_a_broker_describes_its_file_and_its_dynamic_values(bench: Bench) -> None:
    assert shown(bench, BROKER, "1", "num.io.threads") == (
        "7",
        4,
        [("num.io.threads", "7", 4), ("num.io.threads", "8", 5)],
    )
    by_name = {entry.name: entry for entry in described(bench, BROKER, "1").configs}
    assert [*by_name] == sorted(by_name)
    assert (by_name["broker.rack"].value, by_name["broker.rack"].read_only) == ("r", True)
    assert not by_name["num.io.threads"].read_only
    secret = by_name["ssl.keystore.password"]
    assert (secret.is_sensitive, secret.value) == (True, None)
    assert [one.value for one in secret.synonyms] == [None]


def test_the_values_of_all_brokers_are_only_those_that_are_set(bench: Bench) -> None:
    [entry] = described(bench, BROKER, "").configs
    assert (entry.name, entry.value, entry.config_source) == ("log.retention.ms", "3", 3)
    assert [(one.value, one.source) for one in entry.synonyms] == [("3", 3)]


def test_groups_and_client_metrics_have_defaults(bench: Bench) -> None:
    name = "consumer.session.timeout.ms"
    assert shown(bench, GROUP, "g", name) == ("50000", 8, [(name, "50000", 8), (name, "45000", 5)])
    assert shown(bench, GROUP, "other", name) == ("45000", 5, [(name, "45000", 5)])
    assert len(described(bench, METRICS, "any").configs) == 3


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (BROKER, "2", 42),
        (BROKER, "x", 42),
        (LOGGER, "2", 42),
        (LOGGER, "1", 0),
        (GROUP, "", 42),
        (METRICS, "", 42),
        (7, "x", 42),
    ],
)
def test_resources_that_this_broker_does_not_describe(
    bench: Bench, kind: int, name: str, code: int
) -> None:
    assert described(bench, kind, name).error_code == code
