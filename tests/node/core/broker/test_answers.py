"""What a node answers from its own image: ApiVersions, Metadata, DescribeCluster."""

import pytest

from kraftproof.node.core.broker import answers
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.alter_partition_request import AlterPartitionRequest
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from tests.node.core.broker.bench import Bench

NAMED = ApiVersionsRequest(client_software_name="a-client", client_software_version="1.0")


@pytest.mark.requirement("631-02")
@pytest.mark.requirement("631-03")
@pytest.mark.requirement("631-07")
def test_each_listener_advertises_its_own_apis() -> None:
    client = served_versions(on_controller_listener=False)
    controller = served_versions(on_controller_listener=True)
    quorum = {52, 53, 54}
    assert not quorum & set(client)
    assert {1, 58, 62, 63, *quorum} <= set(controller)
    assert not {0, 3} & set(controller)
    assert not {4, 5, 6, 7} & (set(client) | set(controller))
    assert controller[1] == (12, 18)


def test_api_versions_shows_the_finalized_features(bench: Bench) -> None:
    answer = bench.ask(NAMED, version=3)
    assert [(f.name, f.max_version_level) for f in answer.finalized_features] == [
        ("metadata.version", 21)
    ]
    assert answer.finalized_features_epoch == 11
    assert 3 in {api.api_key for api in answer.api_keys}


def test_describe_cluster_lists_brokers_at_a_broker(bench: Bench) -> None:
    active = bench.ask(DescribeClusterRequest())
    assert [(node.broker_id, node.is_fenced) for node in active.brokers] == [(3, False)]
    both = bench.ask(DescribeClusterRequest(include_fenced_brokers=True), version=2)
    assert [(node.broker_id, node.is_fenced) for node in both.brokers] == [(2, True), (3, False)]
    assert (both.controller_id, both.cluster_id) == (3, "a-cluster")
    wrong = bench.ask(DescribeClusterRequest(endpoint_type=2), version=1)
    assert wrong.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    absurd = bench.ask(DescribeClusterRequest(endpoint_type=9), version=1)
    assert absurd.error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE


def test_describe_cluster_lists_controllers_at_a_controller(bench: Bench) -> None:
    answer = answers.describe_cluster(
        bench.config,
        bench.committed.image,
        102,
        DescribeClusterRequest(endpoint_type=2),
        on_controller_listener=True,
        operations=0,
    )
    assert [(node.broker_id, node.host) for node in answer.brokers] == [(101, "c"), (102, "d")]
    assert (answer.controller_id, answer.endpoint_type) == (102, 2)


def test_broker_refuses_what_it_does_not_serve_loudly() -> None:
    with pytest.raises(AssertionError, match="AlterPartitionRequest"):
        Bench().receive(AlterPartitionRequest())


@pytest.mark.parametrize(
    ("name", "software_version", "is_taken"),
    [
        ("a.b-c", "1.0-rc.1", True),
        ("k", "v", True),
        ("", "1.0", False),
        ("kraft", "", False),
        ("kraft-", "1.0", False),
        (".kraft", "1.0", False),
        ("kraft", "1_0", False),
        ("kraft\n", "1.0", False),
    ],
)
def test_software_names_itself_in_kafkas_form_or_is_refused(
    bench: Bench, name: str, software_version: str, is_taken: bool
) -> None:
    request = ApiVersionsRequest(
        client_software_name=name, client_software_version=software_version
    )
    answer = bench.ask(request, version=3)
    assert answer.error_code == (ErrorCode.NONE if is_taken else ErrorCode.INVALID_REQUEST)
    assert bool(answer.api_keys) is is_taken
    assert bench.ask(request, version=2).error_code == ErrorCode.NONE
