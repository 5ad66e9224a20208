"""Calls of the tools for replicas, the quorum, security and groups, in order. No tests here."""

from typing import Final

from tests.kafka.clients.step import (
    FEATURES,
    GROUPS,
    QUORUM,
    REASSIGN,
    TOOLS,
    TRANSACTIONS,
    Step,
    at,
    refused,
)

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
        r"partition t-1 is completed(.|\n)*Clearing topic-level throttles",
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--execute --throttle",
        "--execute --throttle 1000000 --reassignment-json-file {folder}/back.json",
        "The inter-broker throttle limit was set to 1000000",
    ),
    at(
        "kafka-reassign-partitions", REASSIGN, "--list", "--list",
        "No partition reassignments found",
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
