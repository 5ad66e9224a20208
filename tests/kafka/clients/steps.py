"""All calls of Kafka's own tools, in order. No tests here."""

from typing import Final

from tests.kafka.clients.cluster_steps import CLUSTER_STEPS, SECURITY_STEPS
from tests.kafka.clients.config_steps import CONFIG_STEPS, TOPIC_STEPS
from tests.kafka.clients.data_steps import DATA_STEPS

STEPS: Final = (*TOPIC_STEPS, *CONFIG_STEPS, *DATA_STEPS, *CLUSTER_STEPS, *SECURITY_STEPS)
