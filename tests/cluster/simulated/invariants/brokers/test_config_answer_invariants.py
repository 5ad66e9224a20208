"""A wrong or missing configuration in an answer to DescribeConfigs goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.config_answers import config_faults
from kraftproof.node.core.configs.definition import ConfigType
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response
from tests.cluster.simulated.invariants.test_broker_answer_invariants import (
    IMAGE,
    UNKNOWN,
    Broker,
)


def entry(name, value, source, *synonyms, kind=ConfigType.LONG):
    shown = tuple(
        describe_configs_response.DescribeConfigsSynonym(name=one, value=other, source=from_)
        for one, other, from_ in synonyms
    )
    return describe_configs_response.DescribeConfigsResourceResult(
        name=name, value=value, config_source=source, config_type=kind, synonyms=shown
    )


OWN = entry("retention.ms", "7", 1)
BYTES = entry("retention.bytes", "-1", 5)
DEFAULT = ("log.retention.ms", "604800000", 5)


def configs(*shown, error=ErrorCode.NONE, name="t"):
    result = describe_configs_response.DescribeConfigsResult(
        configs=shown, error_code=error, resource_type=2, resource_name=name
    )
    return describe_configs_response.DescribeConfigsResponse(results=(result,))


@pytest.mark.parametrize(
    ("name", "keys", "answer", "reported"),
    [
        ("t", ("retention.ms",), configs(OWN), 0),
        ("t", ("retention.ms", "retention.bytes"), configs(OWN, BYTES), 0),
        ("t", ("internal.segment.bytes", "no.such"), configs(), 0),
        ("u", None, configs(error=UNKNOWN, name="u"), 0),
        ("t", ("retention.ms",), configs(entry("retention.ms", "8", 1)), 1),
        ("t", ("retention.ms",), configs(entry("retention.ms", "7", 5)), 1),
        ("t", ("retention.ms",), configs(entry("retention.ms", "7", 1, kind=1)), 1),
        ("t", ("retention.bytes",), configs(entry("retention.bytes", "1", 5)), 1),
        ("t", ("retention.ms",), configs(entry("retention.ms", "7", 1, DEFAULT)), 1),
        ("t", ("retention.ms",), configs(), 1),
        ("t", ("retention.ms",), configs(OWN, BYTES), 1),
        ("t", None, configs(OWN), 1),
        ("t", None, configs(error=UNKNOWN), 1),
        ("u", None, configs(name="u"), 1),
        ("t", ("retention.ms",), configs(OWN, name="v"), 1),
        ("t", None, describe_configs_response.DescribeConfigsResponse(), 1),
    ],
)
def test_the_configurations_of_a_topic_are_shown(name, keys, answer, reported):
    resource = describe_configs_request.DescribeConfigsResource(
        resource_type=2, resource_name=name, configuration_keys=keys
    )
    request = describe_configs_request.DescribeConfigsRequest(resources=(resource,))
    assert len(Broker().says(request, answer)) == reported


@pytest.mark.parametrize(
    ("synonyms", "reported"),
    [
        ((("retention.ms", "7", 1), DEFAULT), 0),
        ((DEFAULT,), 1),
        ((("retention.ms", "7", 1),), 1),
        ((DEFAULT, ("retention.ms", "7", 1)), 1),
    ],
)
def test_synonyms_are_the_value_and_the_default(synonyms, reported):
    resource = describe_configs_request.DescribeConfigsResource(
        resource_type=2, resource_name="t", configuration_keys=("retention.ms",)
    )
    request = describe_configs_request.DescribeConfigsRequest(
        resources=(resource,), include_synonyms=True
    )
    answer = configs(entry("retention.ms", "7", 1, *synonyms))
    assert len(Broker().says(request, answer)) == reported


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        (entry("retention.bytes", "9", 4), 0),
        (entry("retention.bytes", "-1", 5), 1),
        (entry("retention.bytes", "8", 4), 1),
    ],
)
def test_a_setting_of_the_own_file_comes_before_the_default(answer, faults):
    resource = describe_configs_request.DescribeConfigsResource(
        resource_type=2, resource_name="t", configuration_keys=("retention.bytes",)
    )
    request = describe_configs_request.DescribeConfigsRequest(resources=(resource,))
    found = config_faults(IMAGE, 4, request, configs(answer), {"log.retention.bytes": "9"})
    assert len(list(found)) == faults
