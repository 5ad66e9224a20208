"""Clients of the reference system for the workloads of topics and of configurations."""

from kraftproof.cluster.systems.kafka import topics
from kraftproof.cluster.systems.kafka.administration import configs
from kraftproof.cluster.systems.reference.errors import ERRORS


class TopicsClient(topics.TopicsClient):
    """Topics, through one broker of ours."""

    errors = ERRORS


class ConfigsClient(configs.ConfigsClient):
    """Configurations, through one broker of ours."""

    errors = ERRORS
