"""Draw requests about quotas, credentials and tokens, with values at and beyond their limits."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    alter_user_scram_credentials_request,
    create_delegation_token_request,
    expire_delegation_token_request,
    renew_delegation_token_request,
)

USERS: Final = ("__ann", "__bob", "__eve")
"""Users of credentials; nobody logs in as one of them."""
LONG_MAX, INT_MAX = (1 << 63) - 1, (1 << 31) - 1
AT_LIMIT_SHARE: Final = 0.03
"""Share of the changes of quotas with as many records as a request may write, or one more."""
MOST_RECORDS: Final = 10_000
"""Maximum number of records of a request."""

DEFAULT_SHARE: Final = 0.3
"""Share of the parts of an entity that `with_defaults` turns into the default."""
MOST_DEFAULTS: Final = 10
"""Number of entries of a request that `with_defaults` changes."""


# Quotas


def draw_quotas(random: Random, _: Vocabulary) -> Message:
    """Return quotas with values at the limits, of entities that name no client of a run."""
    module = alter_client_quotas_request
    kind, name, key, values = random.choice(_QUOTAS)
    ops = [
        module.OpData(key=key, value=value, remove=random.random() < 0.2)
        for value in random.sample(values, random.choice((1, 1, 1, 2)))
    ]
    if random.random() < AT_LIMIT_SHARE:
        count = random.choice((MOST_RECORDS, MOST_RECORDS + 1))
        entries = tuple(
            module.EntryData(
                entity=(module.EntityData(entity_type="user", entity_name=f"__user-{number}"),),
                ops=(module.OpData(key="producer_byte_rate", value=1e9),),
            )
            for number in range(count)
        )
        return module.AlterClientQuotasRequest(entries=entries, validate_only=True)
    parts = [module.EntityData(entity_type=kind, entity_name=name)]
    if random.random() < 0.15:
        other = random.choice(("user", "client-id", "ip"))
        parts.append(module.EntityData(entity_type=other, entity_name="__nobody"))
    entry = module.EntryData(entity=tuple(parts), ops=tuple(ops))
    return module.AlterClientQuotasRequest(
        entries=(entry,) * random.choice((1, 1, 1, 1, 2)), validate_only=random.random() < 0.2
    )


def with_defaults(
    random: Random, request: alter_client_quotas_request.AlterClientQuotasRequest
) -> alter_client_quotas_request.AlterClientQuotasRequest:
    """Return the request with the default entity in place of some named ones.

    A run with clients must not use the result: the default binds them too.
    """
    return replace(
        request,
        entries=tuple(
            replace(
                entry,
                entity=tuple(
                    replace(part, entity_name=None) if random.random() < DEFAULT_SHARE else part
                    for part in entry.entity
                ),
            )
            for entry in request.entries[:MOST_DEFAULTS]
        )
        + request.entries[MOST_DEFAULTS:],
    )


_BYTES: Final = (1.0, float(INT_MAX), float(LONG_MAX), 2.0**63, 2.0**64, 0.0, -1.0, 1.5, 1024.0)
_CONNECTIONS: Final = (1.0, INT_MAX - 1.0, float(INT_MAX), INT_MAX + 1.0, 0.0, 1.5, 1024.0)
_QUOTAS: Final = (
    ("user", "__nobody", "producer_byte_rate", _BYTES),
    ("client-id", "__nobody", "consumer_byte_rate", _BYTES),
    ("user", "__nobody", "request_percentage", (0.5, 200.0, 0.0, 1e300)),
    ("user", "__nobody", "connection_creation_rate", (1.0,) * 2),
    ("user", "__nobody", "controller_mutation_rate", (0.25, 0.0, -0.5)),
    ("ip", "10.9.9.9", "connection_creation_rate", _CONNECTIONS),
    ("ip", "::1", "connection_creation_rate", _CONNECTIONS),
    ("ip", "no address", "connection_creation_rate", _CONNECTIONS),
    ("ip", "10.9.9.9", "producer_byte_rate", (1.0,) * 2),
)


# Users and tokens


def draw_credentials(random: Random, _: Vocabulary) -> Message:
    """Return changes of credentials, at times of the same user twice."""
    module = alter_user_scram_credentials_request
    deletions = [
        module.ScramCredentialDeletion(name=random.choice(USERS), mechanism=_mechanism(random))
        for _ in range(random.choice((0, 0, 1, 2)))
    ]
    upsertions = [
        module.ScramCredentialUpsertion(
            name=random.choice((*USERS * 3, "")),
            mechanism=_mechanism(random),
            iterations=random.choice((4096, 4096, 8192, 16384, 4095, 16385, 0)),
            salt=random.randbytes(random.choice((12, 16, 16, 11, 0))),
            salted_password=random.randbytes(random.choice((32, 64, 32, 0))),
        )
        for _ in range(random.choice((0, 1, 1, 2)))
    ]
    return module.AlterUserScramCredentialsRequest(
        deletions=tuple(deletions), upsertions=tuple(upsertions)
    )


def _mechanism(random: Random) -> int:
    return random.choice((1, 1, 2, 2, 0, 3))


def draw_token_request(random: Random, _: Vocabulary) -> Message:
    """Return the creation of a token, or a change of a token that nobody has."""
    match random.randrange(4):
        case 0 | 1:
            module = create_delegation_token_request
            renewers = tuple(
                module.CreatableRenewers(
                    principal_type=random.choice(("User", "User", "Group")),
                    principal_name=random.choice(USERS),
                )
                for _ in range(random.choice((0, 1, 2)))
            )
            return module.CreateDelegationTokenRequest(
                renewers=renewers, max_lifetime_ms=random.choice((-1, 0, 1, 5_000, LONG_MAX))
            )
        case 2:
            return renew_delegation_token_request.RenewDelegationTokenRequest(
                hmac=random.randbytes(64), renew_period_ms=random.choice((-1, 0, 1_000))
            )
        case _:
            return expire_delegation_token_request.ExpireDelegationTokenRequest(
                hmac=random.randbytes(64), expiry_time_period_ms=random.choice((-1, 0, 1_000))
            )
