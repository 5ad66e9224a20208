"""Calls of Kafka's own tools in order, each with what it must print. No tests here."""

from dataclasses import dataclass
from typing import Final

TOOLS: Final = "org.apache.kafka.tools."
CONFIGS: Final = "kafka.admin.ConfigCommand"
TOPICS: Final = f"{TOOLS}TopicCommand"
REASSIGN: Final = f"{TOOLS}reassign.ReassignPartitionsCommand"
GROUPS: Final = f"{TOOLS}consumer.group.ConsumerGroupCommand"
CONSUMER: Final = f"{TOOLS}consumer.ConsoleConsumer"
TRANSACTIONS: Final = f"{TOOLS}TransactionsCommand"
METRICS: Final = f"{TOOLS}ClientMetricsCommand"
FEATURES: Final = f"{TOOLS}FeatureCommand"
QUORUM: Final = f"{TOOLS}MetadataQuorumCommand"
UNSUPPORTED: Final = "UnsupportedVersionException|The node does not support|unexpected error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A run of a tool.

    Attributes:
        tool: Its name for users.
        call: The row of docs/clients.md.
        main_class: Its class.
        options: Its arguments; {brokers}, {controllers} and {folder} are replaced.
        prints: What its output must match.
        is_refused: Whether `prints` is the error of a refusal.
        text: Its standard input.
        linger_seconds: Time that its threads get after the end of main.
    """

    tool: str
    call: str
    main_class: str
    options: str
    prints: str
    is_refused: bool = False
    text: str = ""
    linger_seconds: float = 0
    is_repeated: bool = False
    """Whether the tool runs again until `prints` matches: a move of replicas takes its time."""


def at(
    tool: str,
    main_class: str,
    call: str,
    options: str,
    prints: str,
    text: str = "",
    *,
    is_repeated: bool = False,
) -> Step:
    """Return a step of a tool that takes --bootstrap-server."""
    return Step(
        tool=tool,
        call=call,
        main_class=main_class,
        options=f"--bootstrap-server {{brokers}} {options}",
        prints=prints,
        text=text,
        is_repeated=is_repeated,
    )


def refused(tool: str, main_class: str, call: str, options: str, error: str = UNSUPPORTED) -> Step:
    """Return a step that ends with an error."""
    return Step(
        tool=tool,
        call=call,
        main_class=main_class,
        options=f"--bootstrap-server {{brokers}} {options}",
        prints=error,
        is_refused=True,
    )


def topics(call: str, options: str, prints: str) -> Step:
    return at("kafka-topics", TOPICS, call, options, prints)


def configs(call: str, options: str, prints: str) -> Step:
    return at("kafka-configs", CONFIGS, call, options, prints)


TOPIC_STEPS: Final = (
    topics(
        "--create",
        "--create --topic t --replica-assignment 2:3,3:4 --config retention.ms=70000",
        "Created topic t",
    ),
    topics("--list", "--list", "^t$"),
    topics(
        "--describe", "--describe --topic t", r"Configs: retention\.ms=70000\n.*Leader: 2\s.*Isr: 2"
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
    configs(
        "client-metrics --alter",
        "--entity-type client-metrics --entity-name m --alter --add-config interval.ms=1000",
        "Completed updating config for client-metric m",
    ),
    at("kafka-client-metrics", METRICS, "--list", "--list", "^m$"),
    at(
        "kafka-client-metrics", METRICS, "--alter", "--alter --name n --metrics x --interval 1000",
        "Altered client metrics config for n",
    ),
    at(
        "kafka-client-metrics", METRICS, "--describe", "--describe --name n", "interval.ms=1000"
    ),
    at(
        "kafka-client-metrics", METRICS, "--delete", "--delete --name n",
        "Deleted client metrics config for n",
    ),
)  # fmt: skip
DATA_STEPS: Final = (
    at(
        "kafka-console-producer", f"{TOOLS}ConsoleProducer", "with keys",
        "--topic t --reader-property parse.key=true --reader-property key.separator=:", "^$",
        "a:1\nb:2\nc:3\nd:4\ne:5\nf:6\n",
    ),
    at(
        "kafka-console-producer", f"{TOOLS}ConsoleProducer", "compressed, acks=all",
        "--topic t --command-property acks=all --compression-codec zstd", "^$", "1\n2\n3\n",
    ),
    at(
        "kafka-verifiable-producer", f"{TOOLS}VerifiableProducer", "--max-messages",
        "--topic t --max-messages 20", '"sent":20,"acked":20',
    ),
    Step(
        tool="kafka-producer-perf-test",
        call="--num-records",
        main_class=f"{TOOLS}ProducerPerformance",
        options="--bootstrap-server {brokers} --topic t --num-records 50 --record-size 10 "
        "--throughput -1",
        prints="50 records sent",
        linger_seconds=0,
    ),
    at(
        "kafka-console-consumer", CONSUMER, "--partition --offset",
        "--topic t --partition 0 --offset earliest --max-messages 1 --timeout-ms 15000",
        "Processed a total of 1 messages",
    ),
    refused(
        "kafka-console-consumer", CONSUMER, "--from-beginning (a group)",
        "--topic t --from-beginning --timeout-ms 10000", "UnsupportedVersionException",
    ),
    refused(
        "kafka-verifiable-consumer", f"{TOOLS}VerifiableConsumer", "--group-id",
        "--topic t --group-id vg --max-messages 5", "UnsupportedVersionException",
    ),
    refused(
        "kafka-console-share-consumer", f"{TOOLS}consumer.ConsoleShareConsumer", "--topic",
        "--topic t --timeout-ms 1000", "UnsupportedVersionException",
    ),
    refused(
        "kafka-consumer-perf-test", f"{TOOLS}ConsumerPerformance", "--num-records",
        "--topic t --num-records 5 --timeout 3000", "UnsupportedVersionException",
    ),
    at("kafka-get-offsets", f"{TOOLS}GetOffsetShell", "latest", "--topic t", r"t:0:[1-9]\d*\n"),
    at(
        "kafka-get-offsets", f"{TOOLS}GetOffsetShell", "earliest", "--topic t --time earliest",
        "t:0:0\n",
    ),
    at(
        "kafka-get-offsets", f"{TOOLS}GetOffsetShell", "max-timestamp",
        "--topic t --time max-timestamp", r"t:0:\d",
    ),
    at(
        "kafka-log-dirs", f"{TOOLS}LogDirsCommand", "--describe", "--describe --topic-list t",
        '"partition":"t-0","size":[1-9]',
    ),
    at(
        "kafka-delete-records", f"{TOOLS}DeleteRecordsCommand", "--offset-json-file",
        "--offset-json-file {folder}/delete.json", r"partition: t-0\tlow_watermark: 1\n",
    ),
    Step(
        tool="kafka-replica-verification",
        call="--topics-include",
        main_class=f"{TOOLS}ReplicaVerificationTool",
        options="--broker-list {brokers} --topics-include t --report-interval-ms 1000",
        prints="max lag is 0 for partition t-",
        linger_seconds=4,
    ),
)  # fmt: skip
CLUSTER_STEPS: Final = (
    at(
        "kafka-reassign-partitions", REASSIGN, "--generate",
        "--generate --topics-to-move-json-file {folder}/topics.json --broker-list 2,3,4",
        "Proposed partition reassignment configuration",
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--execute",
        "--execute --reassignment-json-file {folder}/plan.json",
        "Successfully started partition reassignments for t-0,t-1",
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--verify",
        "--verify --reassignment-json-file {folder}/plan.json",
        r"partition t-1 is completed(.|\n)*Clearing topic-level throttles", is_repeated=True,
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--execute --throttle",
        "--execute --throttle 1000000 --reassignment-json-file {folder}/back.json",
        "The inter-broker throttle limit was set to 1000000",
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--list", "--list",
        "No partition reassignments found", is_repeated=True,
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--cancel",
        "--cancel --reassignment-json-file {folder}/back.json",
        "None of the specified partition reassignments are active",
    ),
    refused(
        "kafka-reassign-partitions", REASSIGN, "--execute (another directory)",
        "--execute --reassignment-json-file {folder}/directories.json",
        "UnsupportedVersionException",
    ),
    at(
        "kafka-leader-election", f"{TOOLS}LeaderElectionCommand", "preferred",
        "--election-type preferred --topic t --partition 0",
        "Valid replica already elected|Successfully completed leader election",
    ),
    at(
        "kafka-leader-election", f"{TOOLS}LeaderElectionCommand", "unclean, all",
        "--election-type unclean --all-topic-partitions", "^$|Valid replica",
    ),
    at("kafka-features", FEATURES, "describe", "describe", "Feature: metadata.version"),
    at(
        "kafka-features", FEATURES, "upgrade", "upgrade --feature metadata.version=22",
        "metadata.version was upgraded to 22",
    ),
    at("kafka-metadata-quorum", QUORUM, "describe --status", "describe --status", r"LeaderId:\s+1"),
    at(
        "kafka-metadata-quorum", QUORUM, "describe --replication", "describe --replication",
        r"1 .*Leader(.|\n)*Observer",
    ),
    refused(
        "kafka-metadata-quorum", QUORUM, "remove-controller",
        "remove-controller --controller-id 1 --controller-directory-id AAAAAAAAAAAAAAAAAAAAAQ",
        "UnsupportedVersionException",
    ),
    at(
        "kafka-broker-api-versions", f"{TOOLS}BrokerApiVersionsCommand", "", "",
        r"Produce\(0\): 3 to 13",
    ),
    *(
        Step(
            tool="kafka-cluster", call=f"{call} {by}", main_class=f"{TOOLS}ClusterTool",
            options=f"{call} {by} {where}", prints=prints,
        )
        for call, by, where, prints in (
            ("cluster-id", "--bootstrap-server", "{brokers}", "Cluster ID: "),
            ("list-endpoints", "--bootstrap-server", "{brokers}", r"2\s+127.0.0.1"),
            ("list-endpoints", "--bootstrap-controller", "{controllers}", r"1\s+127.0.0.1"),
        )
    ),
)  # fmt: skip
SECURITY_STEPS: Final = (
    at(
        "kafka-acls", f"{TOOLS}AclCommand", "--add",
        "--add --allow-principal User:eve --operation read --topic t", "Adding ACLs",
    ),
    at(
        "kafka-acls", f"{TOOLS}AclCommand", "--list", "--list --topic t",
        r"principal=User:eve, host=\*, operation=READ",
    ),
    at(
        "kafka-acls", f"{TOOLS}AclCommand", "--remove",
        "--remove --allow-principal User:eve --operation read --topic t --force", "^$|Current",
    ),
    refused(
        "kafka-delegation-tokens", f"{TOOLS}DelegationTokenCommand", "--create (PLAINTEXT)",
        "--create --max-life-time-period -1 --command-config /dev/null",
        "UnsupportedByAuthenticationException",
    ),
    at(
        "kafka-transactions", TRANSACTIONS, "describe-producers",
        "describe-producers --topic t --partition 0", r"ProducerId(.|\n)*\d+\s+0\s+-1",
    ),
    at("kafka-transactions", TRANSACTIONS, "find-hanging", "find-hanging --broker-id 2", "Topic"),
    refused("kafka-transactions", TRANSACTIONS, "list", "list"),
    refused("kafka-transactions", TRANSACTIONS, "describe", "describe --transactional-id x"),
    *(
        refused("kafka-consumer-groups", GROUPS, options.split(" ")[0], options)
        for options in (
            "--list",
            "--describe --group g",
            "--delete --group g",
            "--reset-offsets --group g --topic t --to-earliest --execute",
        )
    ),
    refused("kafka-groups", f"{TOOLS}GroupsCommand", "--list", "--list"),
    refused("kafka-share-groups", f"{TOOLS}consumer.group.ShareGroupCommand", "--list", "--list"),
    refused("kafka-streams-groups", f"{TOOLS}streams.StreamsGroupCommand", "--list", "--list"),
)  # fmt: skip
STEPS: Final = (*TOPIC_STEPS, *CONFIG_STEPS, *DATA_STEPS, *CLUSTER_STEPS, *SECURITY_STEPS)
