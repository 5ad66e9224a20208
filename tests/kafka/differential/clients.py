"""ApiVersions, Metadata, DescribeCluster and DescribeConfigs (18, 3, 60, 32). No tests here."""

from typing import Final

from kraftproof.node.wire.messages import (
    api_versions_request,
    describe_cluster_request,
    describe_configs_request,
    metadata_request,
)
from tests.kafka.differential.case import BROKER, CONTROLLER, Case, Context, every_version
from tests.kafka.differential.topics import UNKNOWN_ID

ApiVersionsRequest = api_versions_request.ApiVersionsRequest
DescribeClusterRequest = describe_cluster_request.DescribeClusterRequest
DescribeConfigsRequest = describe_configs_request.DescribeConfigsRequest
Resource = describe_configs_request.DescribeConfigsResource
MetadataRequest = metadata_request.MetadataRequest
Asked = metadata_request.MetadataRequestTopic


def versions(name: str, software: str, software_version: str = "1.0") -> Case:
    """Return the case of an ApiVersions by a client of this name and version."""
    request = ApiVersionsRequest(
        client_software_name=software, client_software_version=software_version
    )
    return Case(name=f"versions: {name}", message=request, versions=(3,))


API_VERSIONS: Final = (
    *(
        Case(
            name=f"versions: each version, {listener}",
            message=ApiVersionsRequest(client_software_name="kraft", client_software_version="1.0"),
            versions=every_version(ApiVersionsRequest),
            to=listener,
        )
        for listener in (BROKER, CONTROLLER)
    ),
    versions("an empty name", ""),
    versions("an empty version", "kraft", ""),
    versions("a name with a blank", "a b"),
    versions("a name that ends with a dash", "kraft-"),
    versions("a name that begins with a dot", ".kraft"),
    versions("a version with an underscore", "kraft", "1_0"),
    versions("a name of one letter", "k", "v"),
    versions("a name with dots and dashes", "a.b-c", "1.0-rc.1"),
    versions("a letter beyond ASCII", "kräft"),
    versions("a line end", "kraft\n"),
)


def metadata(
    name: str, request: MetadataRequest, version: int = MetadataRequest.MAX_VERSION
) -> Case:
    """Return the case of a Metadata."""
    return Case(name=f"metadata: {name}", message=request, versions=(version,))


def named(*names: str | None) -> MetadataRequest:
    """Return the Metadata request for topics by name."""
    return MetadataRequest(
        topics=tuple(Asked(name=name) for name in names), allow_auto_topic_creation=False
    )


def _by_id(context: Context) -> MetadataRequest:
    return MetadataRequest(
        topics=(Asked(topic_id=context.topic_id("manual")),), allow_auto_topic_creation=False
    )


METADATA: Final = (
    Case(
        name="metadata: each version",
        message=lambda context: MetadataRequest(
            topics=(Asked(name="manual"),), allow_auto_topic_creation=context.version < 4
        ),
        versions=every_version(MetadataRequest),
        is_settled=True,
    ),
    Case(
        name="metadata: all of version 0",
        message=MetadataRequest(topics=()),
        versions=(0,),
        drawn=frozenset({"replica_nodes", "isr_nodes", "leader_id"}),
    ),
    metadata("none", MetadataRequest(topics=(), allow_auto_topic_creation=False)),
    metadata("none in version 1", MetadataRequest(topics=()), 1),
    metadata("an unknown name", named("no-such-topic")),
    metadata("two names", named("manual", "no-such-topic")),
    metadata("a name twice", named("manual", "manual")),
    metadata("a bad name", named("a b")),
    metadata("an empty name", named("")),
    metadata("a name too long", named("n" * 250)),
    metadata("the metadata topic", named("__cluster_metadata")),
    metadata("consumer offsets", named("__consumer_offsets")),
    metadata("transaction state", named("__transaction_state")),
    metadata("two underscores", named("__mine")),
    metadata("an unknown name that may be created", MetadataRequest(topics=(Asked(name="new"),))),
    metadata("a bad name that may be created", MetadataRequest(topics=(Asked(name="a b"),))),
    Case(name="metadata: by id", message=_by_id, versions=(12, 13)),
    metadata("an unknown id", MetadataRequest(
        topics=(Asked(topic_id=UNKNOWN_ID),), allow_auto_topic_creation=False
    )),
    metadata("neither name nor id", MetadataRequest(
        topics=(Asked(),), allow_auto_topic_creation=False
    )),
    metadata("name and id", MetadataRequest(
        topics=(Asked(name="manual", topic_id=UNKNOWN_ID),), allow_auto_topic_creation=False
    )),
    metadata("authorized operations", MetadataRequest(
        topics=(Asked(name="manual"),),
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )),
    metadata("authorized operations on the cluster", MetadataRequest(
        topics=(), allow_auto_topic_creation=False, include_cluster_authorized_operations=True
    ), 10),
)  # fmt: skip

DESCRIBE_CLUSTER: Final = (
    Case(
        name="cluster: each version",
        message=DescribeClusterRequest(),
        versions=every_version(DescribeClusterRequest),
    ),
    Case(
        name="cluster: controllers of the controller",
        message=DescribeClusterRequest(endpoint_type=2),
        versions=(1, 2),
        to=CONTROLLER,
    ),
    Case(
        name="cluster: brokers of the controller",
        message=DescribeClusterRequest(endpoint_type=1),
        versions=(0, 1, 2),
        to=CONTROLLER,
    ),
    Case(
        name="cluster: controllers of the broker",
        message=DescribeClusterRequest(endpoint_type=2),
        versions=(1,),
    ),
    Case(
        name="cluster: endpoint type 9",
        message=DescribeClusterRequest(endpoint_type=9),
        versions=(1,),
    ),
    Case(
        name="cluster: fenced brokers too",
        message=DescribeClusterRequest(include_fenced_brokers=True),
        versions=(2,),
    ),
    Case(
        name="cluster: authorized operations",
        message=DescribeClusterRequest(include_cluster_authorized_operations=True),
        versions=(0,),
    ),
)


def configs(
    name: str, *resources: Resource, synonyms: bool = False, documented: bool = False
) -> Case:
    """Return the case of a DescribeConfigs in its newest version."""
    request = DescribeConfigsRequest(
        resources=resources, include_synonyms=synonyms, include_documentation=documented
    )
    return Case(
        name=f"configs: {name}", message=request, versions=(DescribeConfigsRequest.MAX_VERSION,)
    )


def of_topic(name: str, *keys: str) -> Resource:
    """Return the resource that is a topic; without keys, all of them are wanted."""
    return Resource(resource_type=2, resource_name=name, configuration_keys=keys or None)


DESCRIBE_CONFIGS: Final = (
    Case(
        name="configs: each version",
        message=DescribeConfigsRequest(resources=(of_topic("with-configs", "cleanup.policy"),)),
        versions=every_version(DescribeConfigsRequest),
        is_settled=True,
    ),
    configs("all", of_topic("manual")),
    configs("what was set", of_topic("with-configs", "cleanup.policy", "retention.ms")),
    configs("synonyms", of_topic("with-configs", "cleanup.policy"), synonyms=True),
    configs("documentation", of_topic("manual", "cleanup.policy"), documented=True),
    configs("an unknown key", of_topic("manual", "no.such.key")),
    configs("no keys", Resource(resource_type=2, resource_name="manual", configuration_keys=())),
    configs("an unknown topic", of_topic("no-such-topic")),
    configs("a bad name", of_topic("a b")),
    configs("an empty name", of_topic("")),
    configs(
        "a topic twice", of_topic("manual", "retention.ms"), of_topic("manual", "retention.ms")
    ),
    configs(
        "times of a broker",
        Resource(
            resource_type=4,
            resource_name="1",
            configuration_keys=(
                "broker.heartbeat.interval.ms",
                "broker.session.timeout.ms",
                "initial.broker.registration.timeout.ms",
                "replica.lag.time.max.ms",
            ),
        ),
    ),
    configs("resource type 77", Resource(resource_type=77, resource_name="x")),
    configs("nothing"),
)
