"""Ordinary Kafka clients on the host against brokers in containers."""

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as ConfluentTopic

from tests.cluster.docker.conftest import Driver

pytestmark = pytest.mark.docker
TIMEOUTS = "default"
"""Ordinary clients expect an ordinary cluster: no elections because the machine is busy."""


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:kafka")
@pytest.mark.filterwarnings("ignore:(open|read)_text is deprecated:DeprecationWarning")
def test_kafka_python_creates_lists_and_deletes(driver: Driver):
    # It reads its schemas as it is imported, through what Python 3.11 calls deprecated.
    from kafka.admin import KafkaAdminClient, NewTopic

    client = KafkaAdminClient(bootstrap_servers=driver.cluster.bootstrap().split(","))
    try:
        client.create_topics([NewTopic("from-kafka-python", 2, 3)])
        assert "from-kafka-python" in client.list_topics()
        client.delete_topics(["from-kafka-python"])

        async def gone() -> bool:
            return "from-kafka-python" not in client.list_topics()

        assert driver.until(gone)
    finally:
        client.close()


@pytest.mark.long
def test_confluent_kafka_creates_lists_and_deletes(driver: Driver):
    client = AdminClient({"bootstrap.servers": driver.cluster.bootstrap()})
    made = client.create_topics([ConfluentTopic("from-confluent", 1, 3)])
    made["from-confluent"].result(timeout=10)

    async def there() -> bool:
        return "from-confluent" in client.list_topics(timeout=10).topics

    async def gone() -> bool:
        return not await there()

    assert driver.until(there)
    client.delete_topics(["from-confluent"])["from-confluent"].result(timeout=10)
    assert driver.until(gone)
