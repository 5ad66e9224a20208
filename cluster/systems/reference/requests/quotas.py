"""Draw AlterClientQuotas and DescribeClientQuotas: good and bad entities, keys and values.

A drawn quota changes the limit of no client of a run. A low value has only names that no client
has, and a quota of the default user, which goes before the quota of one client id, names a client
(KIP-55).
"""

from random import Random
from typing import Final

from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.messages import (
    alter_client_quotas_request,
    describe_client_quotas_request,
)

SIZES: Final = (0, 1, 1, 1, 2, 3)
NAMES: Final = ("ann", "bob", "10.0.0.1")
_TYPES: Final = ("user", "user", "client-id", "client-id", "ip", "host")
_KEYS: Final = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "controller_mutation_rate",
    "request_percentage",
    "connection_creation_rate",
    "no_such_rate",
)
_LOW: Final = (1.0, 1024.0, 0.5, 0.0, -1.0, 1e300)
_HIGH: Final = (1e9, 2e9)


def alteration(
    random: Random, vocabulary: Vocabulary
) -> alter_client_quotas_request.AlterClientQuotasRequest:
    """Return an AlterClientQuotas with any number of entities."""
    del vocabulary
    return alter_client_quotas_request.AlterClientQuotasRequest(
        entries=tuple(_entry(random) for _ in range(random.choice(SIZES))),
        validate_only=random.random() < 0.2,
    )


def _entry(random: Random) -> alter_client_quotas_request.EntryData:
    module = alter_client_quotas_request
    parts = tuple(
        module.EntityData(
            entity_type=random.choice(_TYPES), entity_name=random.choice((None, "", *NAMES * 3))
        )
        for _ in range(random.choice((0, 1, 1, 1, 1, 2, 2)))
    )
    if not any(part.entity_name for part in parts if part.entity_type == "client-id"):
        parts = tuple(
            module.EntityData(entity_type="user", entity_name="ann")
            if part.entity_type == "user" and part.entity_name is None
            else part
            for part in parts
        )
    has_default = any(part.entity_name is None for part in parts)
    return module.EntryData(
        entity=parts,
        ops=tuple(
            module.OpData(
                key=random.choice(_KEYS),
                value=random.choice(_HIGH if has_default else _HIGH + _LOW),
                remove=random.random() < 0.3,
            )
            for _ in range(random.choice(SIZES))
        ),
    )


def question(
    random: Random, vocabulary: Vocabulary
) -> describe_client_quotas_request.DescribeClientQuotasRequest:
    """Return a DescribeClientQuotas with any filter."""
    del vocabulary
    module = describe_client_quotas_request
    return module.DescribeClientQuotasRequest(
        components=tuple(
            module.ComponentData(
                entity_type=random.choice(_TYPES),
                match_type=random.choice((0, 1, 2, 3)),
                match=random.choice((None, None, *NAMES)),
            )
            for _ in range(random.choice(SIZES))
        ),
        strict=random.random() < 0.5,
    )
