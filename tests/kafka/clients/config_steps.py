"""Calls of kafka-topics, kafka-configs and kafka-client-metrics, in order. No tests here."""

from typing import Final

from tests.kafka.clients.step import CONFIGS, METRICS, at, configs, refused, topics

TOPIC_STEPS: Final = (
    topics(
        "--create",
        "--create --topic t --replica-assignment 2:3,3:4 --config retention.ms=70000",
        "Created topic t",
    ),
    topics("--list", "--list", "^t$"),
    topics(
        "--describe",
        "--describe --topic t",
        r"Configs: retention\.ms=70000.*\n.*Leader: 2\s.*Isr: 2",
    ),
    topics("--alter", "--alter --topic t --partitions 3", "^$"),
    topics("--create (for --delete)", "--create --topic gone --partitions 1", "Created topic gone"),
    topics("--delete", "--delete --topic gone", "^$"),
)
CONFIG_STEPS: Final = (
    configs(
        "topics --alter",
        "--entity-type topics --entity-name t --alter --add-config "
        "retention.ms=80000,cleanup.policy=[compact,delete]",
        "Completed updating config for topic t",
    ),
    configs(
        "topics --describe",
        "--entity-type topics --entity-name t --describe",
        r"cleanup.policy=compact,delete(.|\n)*retention.ms=80000",
    ),
    configs(
        "topics --alter (deletes)",
        "--entity-type topics --entity-name t --alter --delete-config retention.ms,cleanup.policy",
        "Completed updating",
    ),
    configs(
        "brokers --alter",
        "--entity-type brokers --entity-name 2 --alter --add-config log.retention.ms=90000",
        "Completed updating config for broker 2",
    ),
    configs(
        "brokers --describe",
        "--entity-type brokers --entity-name 2 --describe",
        "DYNAMIC_BROKER_CONFIG:log.retention.ms=90000",
    ),
    configs(
        "brokers --describe --all",
        "--entity-type brokers --entity-name 2 --describe --all",
        r"node.id=2 sensitive=false synonyms=\{STATIC_BROKER_CONFIG",
    ),
    configs(
        "brokers --entity-default --alter",
        "--entity-type brokers --entity-default --alter --add-config log.segment.bytes=2000000",
        "Completed updating default config",
    ),
    configs(
        "brokers --entity-default --describe",
        "--entity-type brokers --entity-default --describe",
        "DYNAMIC_DEFAULT_BROKER_CONFIG:log.segment.bytes=2000000",
    ),
    configs(
        "brokers --alter (deletes)",
        "--entity-type brokers --entity-name 2 --alter --delete-config log.retention.ms",
        "Completed updating",
    ),
    configs(
        "broker-loggers --describe",
        "--entity-type broker-loggers --entity-name 2 --describe",
        "Dynamic configs for broker-logger 2",
    ),
    configs(
        "users --alter (SCRAM)",
        "--entity-type users --entity-name bob --alter --add-config SCRAM-SHA-256=[password=x]",
        "Completed updating config for user bob",
    ),
    configs(
        "users --alter (quota)",
        "--entity-type users --entity-name bob --alter --add-config producer_byte_rate=1000000",
        "Completed updating config for user bob",
    ),
    configs(
        "users --describe",
        "--entity-type users --describe",
        r"producer_byte_rate=1000000.0(.|\n)*SCRAM-SHA-256=iterations=4096",
    ),
    configs(
        "clients --alter",
        "--entity-type clients --entity-name c --alter --add-config consumer_byte_rate=1000000",
        "Completed updating config for client c",
    ),
    configs(
        "ips --alter",
        "--entity-type ips --entity-name 127.0.0.9 --alter "
        "--add-config connection_creation_rate=100",
        "Completed updating config for ip",
    ),
    configs("ips --describe", "--entity-type ips --describe", "connection_creation_rate=100.0"),
    configs(
        "groups --alter",
        "--entity-type groups --entity-name g --alter "
        "--add-config consumer.session.timeout.ms=50000",
        "Completed updating config for group g",
    ),
    refused(
        "kafka-configs", CONFIGS, "groups --describe", "--entity-type groups --describe",
        "UnsupportedVersionException",
    ),
    refused(
        "kafka-configs", CONFIGS, "client-metrics --alter",
        "--entity-type client-metrics --entity-name m --alter --add-config interval.ms=1000",
        "client metrics can't be subscribed to",
    ),
    at("kafka-client-metrics", METRICS, "--list", "--list", r"\A\s*\Z"),
    refused(
        "kafka-client-metrics", METRICS, "--alter", "--alter --name n --metrics x --interval 1000",
        "client metrics can't be subscribed to",
    ),
    at(
        "kafka-client-metrics", METRICS, "--describe", "--describe --name n",
        "The client metric resource n doesn't exist",
    ),
    at(
        "kafka-client-metrics", METRICS, "--delete", "--delete --name n",
        "Deleted client metrics config for n",
    ),
)  # fmt: skip
