"""Client of Apache Kafka: that of its protocol, with its errors."""

from typing import Final

from kraftproof.cluster.systems.apache_kafka.errors import ERRORS
from kraftproof.cluster.systems.kafka import topics
from kraftproof.cluster.systems.kafka.administration import configs

CONTROLLER_PORT: Final = "controller"
"""The name of a controller's port for brokers and other controllers."""


class TopicsClient(topics.TopicsClient):
    """Topics, through one broker."""

    errors = ERRORS


class ConfigsClient(configs.ConfigsClient):
    """Configurations, through one broker."""

    errors = ERRORS
