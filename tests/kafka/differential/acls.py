"""Access control entries, with StandardAuthorizer on both sides; the asking client is a super user.

A nobody's requests come in Envelopes of the super user. No tests here.
"""

from typing import Any, Final

from kraftproof.node.wire.messages import (
    create_acls_request,
    create_partitions_request,
    delete_acls_request,
    delete_topics_request,
    describe_acls_request,
    elect_leaders_request,
    incremental_alter_configs_request,
    unregister_broker_request,
)
from kraftproof.node.wire.principal import Principal, encode_principal
from tests.kafka.differential.case import Case
from tests.kafka.differential.quorum import A_TOPIC, envelope

VERSIONS: Final = (1, 2, 3)
ANY: Final = 1
NOBODY: Final = encode_principal(Principal(type="User", name="nobody"))


def entry(**changed: Any) -> create_acls_request.AclCreation:
    """Return a wanted entry: User:x may read topic acl, but for the changes."""
    fields = {
        "resource_type": 2,
        "resource_name": "acl",
        "resource_pattern_type": 3,
        "principal": "User:x",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
        **changed,
    }
    return create_acls_request.AclCreation(**fields)


def create(name: str, *entries: create_acls_request.AclCreation) -> Case:
    """Return the case of a CreateAcls."""
    request = create_acls_request.CreateAclsRequest(creations=entries)
    return Case(name=f"acls: create {name}", message=request, versions=VERSIONS)


def wanted(**changed: Any) -> dict[str, Any]:
    """Return the fields of a filter of everything, but for the changes."""
    return {
        "resource_type_filter": ANY,
        "pattern_type_filter": ANY,
        "operation": ANY,
        "permission_type": ANY,
        **changed,
    }


def delete(name: str, *filters: dict[str, Any]) -> Case:
    """Return the case of a DeleteAcls."""
    module = delete_acls_request
    request = module.DeleteAclsRequest(
        filters=tuple(module.DeleteAclsFilter(**one) for one in filters)
    )
    return Case(name=f"acls: delete {name}", message=request, versions=VERSIONS)


def describe(name: str, **changed: Any) -> Case:
    """Return the case of a DescribeAcls."""
    request = describe_acls_request.DescribeAclsRequest(**wanted(**changed))
    return Case(name=f"acls: describe {name}", message=request, versions=VERSIONS, is_settled=True)


def of_nobody(name: str, inner: Any, version: int) -> Case:
    """Return the case of a request of a principal without rights, in an Envelope."""
    return envelope(f"nobody: {name}", inner, version, principal=NOBODY)


def _configs() -> incremental_alter_configs_request.IncrementalAlterConfigsRequest:
    module = incremental_alter_configs_request
    config = module.AlterableConfig(name="retention.ms", value="1000")
    kinds = ((2, "one"), (4, "1"))
    resources = tuple(
        module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=(config,))
        for kind, name in kinds
    )
    return module.IncrementalAlterConfigsRequest(resources=resources)


def _deletion() -> delete_topics_request.DeleteTopicsRequest:
    module = delete_topics_request
    states = tuple(module.DeleteTopicState(name=name) for name in ("one", "no-such-topic"))
    return module.DeleteTopicsRequest(topics=states, timeout_ms=20_000)


def _growth() -> create_partitions_request.CreatePartitionsRequest:
    module = create_partitions_request
    topic = module.CreatePartitionsTopic(name="one", count=9)
    return module.CreatePartitionsRequest(topics=(topic,), timeout_ms=20_000)


ACLS: Final = (
    create("one", entry()),
    create("the same again", entry()),
    create("a prefix", entry(resource_name="ac", resource_pattern_type=4)),
    create("one of the cluster", entry(resource_type=4, resource_name="kafka-cluster")),
    create("of another cluster name", entry(resource_type=4)),
    create("ANY: the type", entry(resource_type=1)),
    create("of an unknown type", entry(resource_type=99)),
    create("ANY: pattern match", entry(resource_pattern_type=2)),
    create("ANY: the operation", entry(operation=1)),
    create("ANY: the permission", entry(permission_type=1)),
    create("without a name", entry(resource_name="")),
    create("with a principal without type", entry(principal="x")),
    create("ANY: beside a good entry", entry(), entry(operation=1)),
    describe("a literal name", resource_type_filter=2, resource_name_filter="acl"),
    describe("a prefix", pattern_type_filter=4),
    describe("the cluster", resource_type_filter=4),
    describe("nothing", principal_filter="User:other"),
    describe("an operation", operation=4),
    delete("of another principal", wanted(principal_filter="User:other")),
    delete("by match", wanted(pattern_type_filter=2, resource_name_filter="acx")),
    delete("with an unknown operation", wanted(operation=77)),
    delete("the cluster's", wanted(resource_type_filter=4)),
    of_nobody("CreateTopics", A_TOPIC, 7),
    of_nobody("DeleteTopics", _deletion(), 6),
    of_nobody("CreatePartitions", _growth(), 3),
    of_nobody("IncrementalAlterConfigs", _configs(), 1),
    of_nobody("ElectLeaders", elect_leaders_request.ElectLeadersRequest(topic_partitions=None), 2),
    of_nobody(
        "UnregisterBroker", unregister_broker_request.UnregisterBrokerRequest(broker_id=1), 0
    ),
    of_nobody("CreateAcls", create_acls_request.CreateAclsRequest(creations=(entry(),)), 3),
    delete("all", wanted()),
)
