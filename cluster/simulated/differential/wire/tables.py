"""Compare the tables of the protocol that the node states with the same tables of Kafka.

Most error codes are never answered in a simulated run, and both ends of a run read the same table.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.wire import errors
from kraftproof.node.wire.records import control_records, metadata_records
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL
from kraftproof.node.wire.records.write_versions import version_at, write_version

NEWEST_ERROR: Final = 127
ERRORS: Final = """
-1 UNKNOWN_SERVER_ERROR
0 NONE OFFSET_OUT_OF_RANGE CORRUPT_MESSAGE UNKNOWN_TOPIC_OR_PARTITION
5 LEADER_NOT_AVAILABLE NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT BROKER_NOT_AVAILABLE
9 REPLICA_NOT_AVAILABLE MESSAGE_TOO_LARGE
13 NETWORK_EXCEPTION COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR
17 INVALID_TOPIC_EXCEPTION RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS
20 NOT_ENOUGH_REPLICAS_AFTER_APPEND INVALID_REQUIRED_ACKS
29 TOPIC_AUTHORIZATION_FAILED GROUP_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED
32 INVALID_TIMESTAMP UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE UNSUPPORTED_VERSION
36 TOPIC_ALREADY_EXISTS INVALID_PARTITIONS INVALID_REPLICATION_FACTOR INVALID_REPLICA_ASSIGNMENT
40 INVALID_CONFIG NOT_CONTROLLER INVALID_REQUEST UNSUPPORTED_FOR_MESSAGE_FORMAT POLICY_VIOLATION
45 OUT_OF_ORDER_SEQUENCE_NUMBER
47 INVALID_PRODUCER_EPOCH
50 INVALID_TRANSACTION_TIMEOUT
53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED SECURITY_DISABLED OPERATION_NOT_ATTEMPTED
56 KAFKA_STORAGE_ERROR LOG_DIR_NOT_FOUND SASL_AUTHENTICATION_FAILED UNKNOWN_PRODUCER_ID
60 REASSIGNMENT_IN_PROGRESS DELEGATION_TOKEN_AUTH_DISABLED DELEGATION_TOKEN_NOT_FOUND
63 DELEGATION_TOKEN_OWNER_MISMATCH DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
65 DELEGATION_TOKEN_AUTHORIZATION_FAILED DELEGATION_TOKEN_EXPIRED INVALID_PRINCIPAL_TYPE
70 FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH LISTENER_NOT_FOUND
73 TOPIC_DELETION_DISABLED FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH UNSUPPORTED_COMPRESSION_TYPE
77 STALE_BROKER_EPOCH OFFSET_NOT_AVAILABLE
80 PREFERRED_LEADER_NOT_AVAILABLE
83 ELIGIBLE_LEADERS_NOT_AVAILABLE ELECTION_NOT_NEEDED NO_REASSIGNMENT_IN_PROGRESS
87 INVALID_RECORD
89 THROTTLING_QUOTA_EXCEEDED
91 RESOURCE_NOT_FOUND DUPLICATE_RESOURCE UNACCEPTABLE_CREDENTIAL INCONSISTENT_VOTER_SET
95 INVALID_UPDATE_VERSION FEATURE_UPDATE_FAILED PRINCIPAL_DESERIALIZATION_FAILURE
98 SNAPSHOT_NOT_FOUND POSITION_OUT_OF_RANGE UNKNOWN_TOPIC_ID DUPLICATE_BROKER_REGISTRATION
102 BROKER_ID_NOT_REGISTERED INCONSISTENT_TOPIC_ID INCONSISTENT_CLUSTER_ID
106 FETCH_SESSION_TOPIC_ID_ERROR INELIGIBLE_REPLICA NEW_LEADER_ELECTED
114 MISMATCHED_ENDPOINT_TYPE UNSUPPORTED_ENDPOINT_TYPE UNKNOWN_CONTROLLER_ID
119 INVALID_REGISTRATION
125 INVALID_VOTER_KEY DUPLICATE_VOTER VOTER_NOT_FOUND
"""
"""Kafka's error codes: a number, and the names of this number and of the numbers after it."""
RECORD_VERSIONS: Final = {
    # level: RegisterBroker, Partition, PartitionChange, BrokerRegistrationChange
    7: (1, 0, 0, 1),
    8: (2, 0, 0, 1),
    16: (2, 0, 0, 1),
    17: (3, 1, 1, 2),
    21: (3, 1, 1, 2),
    22: (3, 1, 1, 2),
    23: (3, 2, 2, 2),
    29: (3, 2, 2, 2),
    30: (4, 2, 2, 3),
}
"""Versions of records at levels of metadata.version (Kafka's MetadataVersion)."""
VERSIONED: Final = (0, 3, 5, 17)
"""The types of the records in RECORD_VERSIONS."""


def compare_tables(random: Random) -> None:
    """Compare error codes, and the versions of records.

    Raises:
        DifferenceError: the node has another table than Kafka.
    """
    expected = _errors()
    found = {name: int(code) for name, code in errors.ErrorCode.__members__.items()}
    same("the error codes", sorted(found.items()), sorted(expected.items()))
    for name, code in expected.items():
        same(f"the name of error {code}", errors.error_name(code), name)
    same("the name of an unknown error", errors.error_name(NEWEST_ERROR + 50), "error 177")
    for level, versions in RECORD_VERSIONS.items():
        written = tuple(version_at(key, level) for key in VERSIONED)
        same(f"the versions of records at level {level}", written, versions)
        same(f"the version of TopicRecord at level {level}", version_at(2, level), 0)
    same("the level of a new log", DEFAULT_LEVEL, 21)
    same("the frame of records", metadata_records.FRAME_VERSION, 1)
    same("the numbers of control records", sorted(control_records.SCHEMAS), [2, 3, 4, 5, 6])
    _compare_inherited(random)


def _errors() -> dict[str, int]:
    found = {}
    for line in ERRORS.split("\n"):
        first, *names = line.split() or ("0",)
        found.update({name: int(first) + place for place, name in enumerate(names)})
    return found


def _compare_inherited(random: Random) -> None:
    """Ask for the version of records with fields of a later level: they keep their fields."""
    schemas, level = metadata_records.SCHEMAS, random.choice((7, 8, 16, 17, 21, 22, 23, 29, 30))
    directory = bytes(15) + b"\7"
    cases: tuple[tuple[int, dict[str, object], int], ...] = (
        (3, {"directories": (directory,)}, 17),
        (3, {"eligible_leader_replicas": (1,)}, 23),
        (3, {"last_known_elr": (1,)}, 23),
        (5, {"directories": (directory,)}, 17),
        (5, {"eligible_leader_replicas": ()}, 23),
        (5, {"last_known_elr": (2,)}, 23),
        (0, {"log_dirs": (directory,)}, 17),
        (0, {"cordoned_log_dirs": (directory,)}, 30),
        (17, {"log_dirs": (directory,)}, 17),
        (17, {"cordoned_log_dirs": ()}, 30),
        (0, {}, 0),
        (3, {}, 0),
        (5, {}, 0),
        (17, {}, 0),
    )
    for key, fields, from_level in cases:
        kind = schemas[key].message
        record = kind(**fields)
        usual = RECORD_VERSIONS[level][VERSIONED.index(key)]
        newest = schemas[key].max_version
        expected = usual if level >= from_level else newest
        what = f"the version of {kind.__name__} with {fields} at level {level}"
        same(what, write_version(record, level), expected)  # type: ignore[arg-type]
