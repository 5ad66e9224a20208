"""A real cluster that was formatted at an old level of metadata.version, and is upgraded."""

from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.node.storage.bootstrap import write_bootstrap
from kraftproof.node.storage.disk import Disk
from kraftproof.node.tools.client import Client, parse_addresses
from kraftproof.node.wire.messages import Message, api_versions_request, update_features_request
from kraftproof.node.wire.records.metadata import FeatureLevelRecord
from tests.node.server.conftest import LiveCluster, LiveNode
from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeCluster = Callable[..., LiveCluster]

CALL_SECONDS = 20


def at_level_7(node: LiveNode) -> None:
    record = FeatureLevelRecord(name="metadata.version", feature_level=7)
    write_bootstrap(Disk(), str(node.directory / "data"), (record,))


def created(admin: AdminClient, name: str) -> None:
    (future,) = admin.create_topics([NewTopic(name, 2, 1)]).values()
    future.result(CALL_SECONDS)


def test_a_cluster_of_3_3_is_upgraded_to_4_3_and_works_on(live: "MakeCluster") -> None:
    cluster = live(1, 1, prepare=at_level_7)
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap)})
    created(admin, "old")
    (address,) = parse_addresses(cluster.bootstrap[0])

    def ask(message: Message) -> Message:
        with Client(address, CALL_SECONDS) as client:
            return client.ask(message)

    def level() -> int:
        request = api_versions_request.ApiVersionsRequest(
            client_software_name="test", client_software_version="1"
        )
        return ask(request).finalized_features[0].max_version_level

    assert level() == 7
    update = update_features_request.FeatureUpdateKey(
        feature="metadata.version", max_version_level=30, upgrade_type=1
    )
    request = update_features_request.UpdateFeaturesRequest(feature_updates=(update,))
    assert ask(request).error_code == 0
    assert eventually(lambda: level() == 30, CALL_SECONDS)
    created(admin, "new")
    cluster.nodes[1].end()
    (cluster.nodes[1].directory / "trace.jsonl").unlink()
    cluster.nodes[1].start()
    cluster.await_brokers(1)
    assert sorted(admin.list_topics(timeout=CALL_SECONDS).topics) == ["new", "old"]
