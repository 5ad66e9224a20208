"""Clients of the reference system for the workloads of topics and of administration."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka import topics
from kraftproof.cluster.systems.kafka.administration import (
    acls,
    configs,
    credentials,
    quotas,
    tokens,
)
from kraftproof.cluster.systems.kafka.client import KafkaClient
from kraftproof.cluster.systems.reference.errors import ERRORS
from kraftproof.cluster.systems.reference.workload_security import TOKEN_SECRET


class TopicsClient(topics.TopicsClient):
    """Topics, through one broker of ours."""

    errors = ERRORS


class ConfigsClient(configs.ConfigsClient):
    """Configurations, through one broker of ours."""

    errors = ERRORS


class AclsClient(acls.AclsClient):
    """Access control entries, through one broker of ours."""

    errors = ERRORS


class CredentialsClient(credentials.CredentialsClient):
    """SCRAM credentials, through one broker of ours."""

    errors = ERRORS


class TokensClient(tokens.TokensClient):
    """Delegation tokens, through one broker of ours."""

    errors = ERRORS


class QuotasClient(quotas.QuotasClient):
    """Quotas, through one broker of ours."""

    errors = ERRORS


def _tokens(cluster: Cluster, random: Random) -> KafkaClient:
    return TokensClient(cluster, random, TOKEN_SECRET)


ADMINISTRATION: Final[Mapping[str, Callable[[Cluster, Random], KafkaClient]]] = {
    "configs": ConfigsClient,
    "acls": AclsClient,
    "credentials": CredentialsClient,
    "tokens": _tokens,
    "quotas": QuotasClient,
}
"""The clients of the workloads of administration, by workload."""
