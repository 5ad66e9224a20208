"""Client quotas, lists of resources, and pages of topics (48, 49, 74, 75). No tests here."""

from typing import Final

from kraftproof.node.wire.messages import (
    alter_client_quotas_request,
    describe_client_quotas_request,
    describe_topic_partitions_request,
    list_config_resources_request,
)
from tests.kafka.differential.case import Case, every_version

Alter = alter_client_quotas_request
Describe = describe_client_quotas_request
Pages = describe_topic_partitions_request
Named = dict[str, str | None]
ALICE: Final[Named] = {"user": "alice"}
PAIR: Final[Named] = {"user": "alice", "client-id": "app"}


def entry(named: Named, *ops: tuple[str, float | None]) -> Alter.EntryData:
    """Return an entity with operations; a value of None removes the quota."""
    return Alter.EntryData(
        entity=tuple(
            Alter.EntityData(entity_type=kind, entity_name=name) for kind, name in named.items()
        ),
        ops=tuple(
            Alter.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops
        ),
    )


def alter(name: str, *entries: Alter.EntryData, validate_only: bool = False) -> Case:
    """Return the case of an AlterClientQuotas in its newest version."""
    request = Alter.AlterClientQuotasRequest(entries=entries, validate_only=validate_only)
    return Case(name=f"quotas: {name}", message=request, versions=(1,))


def described(name: str, *parts: tuple[str, int, str | None], strict: bool = False) -> Case:
    """Return the case of a DescribeClientQuotas in its newest version."""
    components = tuple(
        Describe.ComponentData(entity_type=kind, match_type=match, match=wanted)
        for kind, match, wanted in parts
    )
    request = Describe.DescribeClientQuotasRequest(components=components, strict=strict)
    return Case(name=f"quotas: {name}", message=request, versions=(1,), is_settled=True)


RATE: Final = ("producer_byte_rate", 1e9)
QUOTAS: Final = (
    Case(
        name="quotas: each version",
        message=Alter.AlterClientQuotasRequest(entries=(entry(ALICE, RATE),)),
        versions=every_version(Alter.AlterClientQuotasRequest),
    ),
    alter("a pair", entry(PAIR, ("consumer_byte_rate", 2e9), ("request_percentage", 900.5))),
    alter("defaults", entry({"user": None}, RATE), entry({"client-id": None}, RATE)),
    alter("an address", entry({"ip": "10.0.0.1"}, ("connection_creation_rate", 1000))),
    alter("only validated", entry({"user": "bob"}, RATE), validate_only=True),
    alter("no entity", entry({}, RATE)),
    alter("an unknown type", entry({"host": "h"}, RATE)),
    alter("an empty name", entry({"user": ""}, RATE)),
    alter("an address and a user", entry({"ip": "10.0.0.1", "user": "a"}, RATE)),
    alter("a rate of an address", entry({"ip": "10.0.0.1"}, RATE)),
    alter("an unknown key", entry(ALICE, ("no_such_rate", 1))),
    alter("zero", entry(ALICE, ("producer_byte_rate", 0.0))),
    alter("negative", entry(ALICE, ("request_percentage", -1.0))),
    alter("a fraction", entry(ALICE, ("producer_byte_rate", 1.5))),
    alter("too large", entry({"ip": "10.0.0.1"}, ("connection_creation_rate", 3e9))),
    alter("one good and one bad", entry({"user": "carl"}, RATE), entry({"user": ""}, RATE)),
    alter("a removal of none", entry({"user": "nobody"}, ("producer_byte_rate", None))),
    alter("nothing"),
    Case(
        name="quotas: described in each version",
        message=Describe.DescribeClientQuotasRequest(),
        versions=every_version(Describe.DescribeClientQuotasRequest),
        is_settled=True,
    ),
    described("of a user", ("user", 0, "alice")),
    described("of a user only", ("user", 0, "alice"), strict=True),
    described("of the default user", ("user", 1, None)),
    described("of any client", ("client-id", 2, None)),
    described("of any address", ("ip", 2, None)),
    described("of a type twice", ("user", 0, "alice"), ("user", 2, None)),
    described("of an unknown type", ("host", 2, None)),
    described("of no type", ("", 2, None)),
    described("without a name", ("user", 0, None)),
    described("of a default with a name", ("user", 1, "alice")),
    described("of match type 9", ("user", 9, None)),
    described("of a user and an address", ("user", 2, None), ("ip", 2, None)),
    alter("removals", entry(PAIR, ("consumer_byte_rate", None), ("request_percentage", None))),
    described("of any client afterwards", ("client-id", 2, None)),
)


def page(name: str, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Case:
    """Return the case of a DescribeTopicPartitions."""
    request = Pages.DescribeTopicPartitionsRequest(
        topics=tuple(Pages.TopicRequest(name=each) for each in names),
        response_partition_limit=limit,
        cursor=None
        if cursor is None
        else Pages.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    placed = frozenset({"leader_id", "isr_nodes", "replica_nodes"} if len(names) > 1 else ())
    return Case(
        name=f"pages: {name}", message=request, versions=(0,), is_settled=True, drawn=placed
    )


PAGES: Final = (
    page("a topic", "manual"),
    page("two topics", "with-configs", "manual"),
    page("an unknown topic", "no-such-topic"),
    page("a bad name", "a b"),
    page("a topic twice", "manual", "manual"),
    page("one partition", "manual", "with-configs", limit=1),
    page("no partition", "manual", limit=0),
    page("from a cursor", "manual", "with-configs", cursor=("with-configs", 0)),
    page("from a negative partition", "manual", cursor=("manual", -1)),
    page("from a cursor behind all", "manual", cursor=("zzz", 0)),
)


def resources(name: str, *kinds: int) -> Case:
    """Return the case of a ListConfigResources."""
    request = list_config_resources_request.ListConfigResourcesRequest(resource_types=kinds)
    return Case(name=f"resources: {name}", message=request, versions=(1,), is_settled=True)


RESOURCES: Final = (
    Case(
        name="resources: each version",
        message=list_config_resources_request.ListConfigResourcesRequest(),
        versions=(0,),
        is_settled=True,
    ),
    resources("brokers", 4),
    resources("loggers", 8),
    resources("groups", 32),
    resources("client metrics", 16),
    resources("an unknown type", 77),
    resources("a known and an unknown type", 4, 77),
)
