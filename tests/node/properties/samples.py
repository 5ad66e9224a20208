"""The keys and values of the sample files in the config folder of Kafka's distribution.

Source: config/server.properties, broker.properties and controller.properties of Kafka 4.x. No
tests here.
"""

from collections.abc import Mapping

_PROTOCOLS = (
    "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,"
    "SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
)
_COMMON = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "socket.request.max.bytes": "104857600",
    "num.partitions": "1",
    "num.recovery.threads.per.data.dir": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "log.retention.hours": "168",
    "log.segment.bytes": "1073741824",
    "log.retention.check.interval.ms": "300000",
}
COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": _PROTOCOLS,
    "log.dirs": "/tmp/kraft-combined-logs",
    **_COMMON,
}
BROKER = {
    "process.roles": "broker",
    "node.id": "2",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://localhost:9092",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": _PROTOCOLS,
    "log.dirs": "/tmp/kraft-broker-logs",
    **_COMMON,
}
CONTROLLER = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "CONTROLLER://:9093",
    "advertised.listeners": "CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/tmp/kraft-controller-logs",
    **_COMMON,
}


def text_of(pairs: Mapping[str, str]) -> str:
    """Return the text of a server.properties."""
    return "".join(f"{key}={value}\n" for key, value in pairs.items())
