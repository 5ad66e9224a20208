"""The calls of docs/clients.md, and the outcomes of a call. No tests here."""

import time
from collections.abc import Callable
from typing import Final

AT_ONCE_SECONDS: Final = 15
"""A refusal that takes longer is a hang; the machine of the tests may be slow."""
WORKS: Final = "works"
NOT_OFFERED: Final = "not offered"
HANGS: Final = "hangs"
DATA: Final = {
    "produce_acks_0": "produce, acks=0",
    "produce_acks_1": "produce, acks=1",
    "produce_acks_all": "produce, acks=all",
    "produce_idempotent": "produce, idempotent",
    "produce_gzip": "produce, gzip",
    "produce_snappy": "produce, snappy",
    "produce_lz4": "produce, lz4",
    "produce_zstd": "produce, zstd",
    "produce_missing": "produce to a missing topic",
    "consume_assigned": "consume an assigned partition",
    "consume_from_offset": "consume from an offset",
    "consume_from_time": "consume from a time",
    "consume_stored": "consume with a group's name and automatic commits",
    "read_ends": "first and last offset of a partition",
    "list_topics": "list topics",
}
ADMIN: Final = {
    "create_topics": "create a topic",
    "delete_topics": "delete a topic",
    "create_partitions": "add partitions",
    "describe_topics": "describe a topic",
    "describe_cluster": "describe the cluster",
    "describe_configs": "describe configurations of a topic",
    "describe_broker": "describe configurations of a broker",
    "alter_configs": "replace configurations of a topic",
    "alter_incremental": "alter configurations of a topic",
    "alter_broker": "alter configurations of a broker",
    "delete_records": "delete records",
    "list_offsets": "list offsets",
    "elect_leaders": "elect leaders",
    "reassign": "reassign partitions",
    "list_reassignments": "list reassignments",
    "describe_log_dirs": "describe log directories",
    "alter_log_dirs": "move a replica between directories",
    "describe_producers": "describe producers",
    "acls": "create, describe and delete ACLs",
    "quotas": "alter and describe quotas",
    "scram": "alter and describe SCRAM credentials",
    "describe_features": "describe features",
    "update_features": "update a feature",
    "list_config_resources": "list configuration resources",
    "describe_quorum": "describe the quorum",
    "describe_topic_partitions": "page through the partitions of a topic",
    "reset_configs": "reset configurations of a topic",
    "api_versions": "list the versions of the requests",
    "describe_replica_dirs": "find the directory of a replica",
    "list_client_metrics": "list subscriptions of client metrics",
    "unregister_broker": "unregister a broker",
    "add_voter": "add a voter",
    "remove_voter": "remove a voter",
    "create_token": "create a delegation token (PLAINTEXT)",
    "renew_token": "renew a delegation token (PLAINTEXT)",
    "expire_token": "expire a delegation token (PLAINTEXT)",
    "describe_token": "describe delegation tokens (PLAINTEXT)",
}
WITHOUT_COORDINATOR: Final = {
    "subscribe": "join a group",
    "subscribe_next": "join a group (group.protocol=consumer)",
    "commit": "commit an offset",
    "committed": "read a committed offset",
    "list_groups": "list groups",
    "describe_groups": "describe a group",
    "delete_groups": "delete a group",
    "list_group_offsets": "list the offsets of a group",
    "alter_group_offsets": "alter the offsets of a group",
    "reset_group_offsets": "reset the offsets of a group",
    "delete_group_offsets": "delete offsets of a group",
    "remove_members": "remove a member of a group",
    "list_consumer_groups": "list consumer groups",
    "describe_classic_groups": "describe a classic group",
    "share_group": "join a share group",
    "describe_share_groups": "describe a share group",
    "list_share_offsets": "list the offsets of a share group",
    "alter_share_offsets": "alter the offsets of a share group",
    "delete_share_offsets": "delete the offsets of a share group",
    "delete_share_groups": "delete a share group",
    "describe_streams_groups": "describe a streams group",
    "list_streams_offsets": "list the offsets of a streams group",
    "alter_streams_offsets": "alter the offsets of a streams group",
    "delete_streams_offsets": "delete the offsets of a streams group",
    "delete_streams_groups": "delete a streams group",
    "transaction": "begin a transaction",
    "list_transactions": "list transactions",
    "describe_transaction": "describe a transaction",
    "fence_producers": "fence the producers of a transaction",
    "abort_transaction": "abort a transaction",
    "terminate_transaction": "terminate a transaction",
    "find_hanging": "find hanging transactions",
}
ROWS: Final = {**DATA, **ADMIN, **WITHOUT_COORDINATOR}
NOTHING_COMMITTED: Final = frozenset({"committed", "list_group_offsets", "list_streams_offsets"})
"""The calls about groups with a true answer: nothing is committed."""
TOKENS: Final = frozenset({"create_token", "renew_token", "expire_token", "describe_token"})
VOTERS: Final = frozenset({"add_voter", "remove_voter"})
REFUSED: Final = frozenset({*WITHOUT_COORDINATOR, *TOKENS, *VOTERS, "alter_log_dirs"})
"""The calls that no cluster of ours serves; every other call must work."""
OLD_VERSIONS: Final = {"aiokafka": frozenset({*NOTHING_COMMITTED, "consume_stored"})}
"""The calls of a client that finds no coordinator with its old versions of FindCoordinator."""


class RefusedError(Exception):
    """The client reported an error; the text is the error's name."""


def outcome(call: Callable[[], None]) -> str:
    """Return the cell of a call: it works, it is refused with an error, or it hangs."""
    start = time.monotonic()
    try:
        call()
        found = WORKS
    except RefusedError as refused:
        found = f"refused: {refused}"
    return found if time.monotonic() - start < AT_ONCE_SECONDS else HANGS
