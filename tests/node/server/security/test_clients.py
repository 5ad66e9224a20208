"""confluent-kafka and kafka-python log in with each mechanism, and produce and consume."""

import gc
import hashlib
import warnings
from collections.abc import Iterator

import pytest

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.messages import alter_user_scram_credentials_request as alter
from tests.node.server.security.conftest import (
    ALICE_PASSWORD,
    Certificates,
    SecureCluster,
    add_every_listener,
)

# kafka-python reads its schemas with a call that Python 3.11 deprecates, when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*_text is deprecated:DeprecationWarning")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
CASES = [
    *(
        (protocol, mechanism)
        for protocol in ("SASL_PLAINTEXT", "SASL_SSL")
        for mechanism in MECHANISMS
    ),
    ("SSL", "mutual"),
]


@pytest.fixture(autouse=True)
def without_sockets_of_kafka_python() -> Iterator[None]:
    """Collect the sockets that kafka-python leaves open, so that no other test warns of them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def every(
    tmp_path_factory: pytest.TempPathFactory, certificates: Certificates
) -> Iterator[tuple[dict[str, int], Certificates]]:
    """A node with each kind of listener, and the credentials of alice for each mechanism."""
    secure = SecureCluster(tmp_path_factory.mktemp("every"), certificates)
    ports = add_every_listener(secure, "listener.name.ssl.ssl.client.auth=required")
    try:
        secure.start()
        add_credentials(ports["PLAINTEXT"])
        yield ports, certificates
        assert "Traceback" not in secure.nodes[0].output
    finally:
        for node in secure.nodes:
            node.end()


def add_credentials(port: int) -> None:
    """Give alice credentials for both SCRAM mechanisms."""
    salt = bytes(range(20))
    with Client(Address("127.0.0.1", port), 20) as admin:
        for number, name in ((1, "sha256"), (2, "sha512")):
            upsertion = alter.ScramCredentialUpsertion(
                name="alice",
                mechanism=number,
                iterations=8192,
                salt=salt,
                salted_password=hashlib.pbkdf2_hmac(name, ALICE_PASSWORD.encode(), salt, 8192),
            )
            answer = admin.ask(alter.AlterUserScramCredentialsRequest(upsertions=(upsertion,)))
            assert [result.error_code for result in answer.results] == [0]  # type: ignore[attr-defined]


@pytest.mark.requirement("590-19")
@pytest.mark.parametrize(("protocol", "mechanism"), CASES)
def test_confluent_kafka_produces_and_consumes(
    every: tuple[dict[str, int], Certificates], protocol: str, mechanism: str
) -> None:
    from confluent_kafka import (
        OFFSET_BEGINNING,
        Consumer,
        KafkaError,
        Producer,
        TopicPartition,
    )
    from confluent_kafka.admin import AdminClient, NewTopic

    ports, files = every
    config: dict[str, str | int] = {
        "bootstrap.servers": f"127.0.0.1:{ports[protocol]}",
        "security.protocol": protocol,
        "ssl.ca.location": str(files.truststore),
        "socket.timeout.ms": 60_000,
    }
    if mechanism == "mutual":
        config |= {
            "ssl.certificate.location": str(files.client),
            "ssl.key.location": str(files.client),
        }
    else:
        config |= {
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": ALICE_PASSWORD,
        }
    topic = f"confluent-{protocol}-{mechanism}"
    admin = AdminClient(config)  # the call ends with the client, so the name keeps the client
    admin.create_topics([NewTopic(topic, 1, 1)], request_timeout=60)[topic].result(60)
    producer = Producer({**config, "acks": "all", "message.timeout.ms": 60_000})
    producer.produce(topic, b"hello", partition=0)
    assert producer.flush(60) == 0
    consumer = Consumer({**config, "group.id": "g", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    message = consumer.poll(60)
    if message is not None and message.error() is not None:
        # librdkafka asks for its group's coordinator even if partitions are assigned, and says
        # once that this cluster has none.
        assert message.error().code() == KafkaError.UNSUPPORTED_VERSION
        message = consumer.poll(60)
    assert message is not None
    assert message.error() is None
    assert message.value() == b"hello"
    consumer.close()


@pytest.mark.parametrize(("protocol", "mechanism"), CASES)
def test_kafka_python_produces_and_consumes(
    every: tuple[dict[str, int], Certificates], protocol: str, mechanism: str
) -> None:
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import KafkaAdminClient, NewTopic

    ports, files = every
    config: dict[str, object] = {
        "bootstrap_servers": f"127.0.0.1:{ports[protocol]}",
        "security_protocol": protocol,
    }
    if "SSL" in protocol.replace("SASL", ""):
        config["ssl_cafile"] = str(files.truststore)
    if mechanism == "mutual":
        config |= {"ssl_certfile": str(files.client), "ssl_keyfile": str(files.client)}
    else:
        config |= {
            "sasl_mechanism": mechanism,
            "sasl_plain_username": "alice",
            "sasl_plain_password": ALICE_PASSWORD,
        }
    topic = f"python-{protocol}-{mechanism}"
    admin = KafkaAdminClient(**config)
    admin.create_topics([NewTopic(topic, 1, 1)])
    admin.close()
    producer = KafkaProducer(**config, acks="all", max_block_ms=60_000)
    producer.send(topic, b"hello", partition=0).get(60)
    producer.close()
    consumer = KafkaConsumer(**config, consumer_timeout_ms=60_000, group_id=None)
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek_to_beginning()
    assert next(consumer).value == b"hello"
    consumer.close()
