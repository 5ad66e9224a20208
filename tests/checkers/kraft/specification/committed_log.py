"""Rows of a committed log that conforms, and the complaints of the checker about a log."""

import json

import msgspec
import pyarrow as pa

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.kraft.specification import LOG_CONFORMS
from kraftproof.checkers.kraft.specification.conforming_log import log_conforms

ID, GONE = "P" * 22, "Q" * 22
LEVEL = [("FEATURE_LEVEL_RECORD", {"name": "metadata.version", "featureLevel": 21})]
FEATURES = [{"name": "metadata.version", "minSupportedVersion": 21, "maxSupportedVersion": 21}]


def registered(broker, rack, epoch=None):
    fields = {
        "brokerId": broker,
        "incarnationId": "I" * 22,
        "brokerEpoch": broker if epoch is None else epoch,
        "endPoints": [{"name": "L", "host": "h", "port": 1, "securityProtocol": 0}],
        "features": FEATURES,
        "rack": rack,
        "fenced": True,
        "inControlledShutdown": False,
        "logDirs": [str(broker) * 22],
    }
    return [("REGISTER_BROKER_RECORD", fields)]


def changed(broker, **fields):
    fields = {"brokerId": broker, "brokerEpoch": broker, **fields}
    return ("BROKER_REGISTRATION_CHANGE_RECORD", fields)


def partition(index, replicas, *, topic_id=ID, leader=None):
    fields = {
        "partitionId": index,
        "topicId": topic_id,
        "replicas": replicas,
        "isr": replicas,
        "leader": replicas[0] if leader is None else leader,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
        "addingReplicas": [],
        "removingReplicas": [],
        "directories": [str(replica) * 22 for replica in replicas],
    }
    return ("PARTITION_RECORD", fields)


def moved(index, isr=None, leader=-2):
    fields = {"partitionId": index, "topicId": ID, "leader": leader}
    return ("PARTITION_CHANGE_RECORD", fields if isr is None else {**fields, "isr": isr})


def config(value="5"):
    fields = {"resourceType": 2, "resourceName": "t", "name": "retention.ms", "value": value}
    return ("CONFIG_RECORD", fields)


NOTHING = [("NO_OP_RECORD", {})]
BEGIN = [
    LEVEL,
    registered(1, "a"),
    registered(2, "a"),
    registered(3, "b"),
    [("LEADER_CHANGE", {"leaderId": 1})],
    [changed(1, fenced=-1)],
    [changed(2, fenced=-1)],
    [changed(3, fenced=-1)],
    NOTHING,
]
TOPIC = ("TOPIC_RECORD", {"name": "t", "topicId": ID})
MADE = [TOPIC, config(), partition(0, [1, 3]), partition(1, [3, 2])]
FENCED = [changed(3, fenced=1), moved(0, [1]), moved(1, [2], 2)]
CREATED = Operation(
    index=0,
    process=0,
    f="create",
    key="t",
    input={"partitions": 2, "configs": {"retention.ms": "5"}},
    output={"outcome": "created", "id": ID},
    status="ok",
    invoke_index=0,
    complete_index=1,
)
UNKNOWN = msgspec.structs.replace(CREATED, status="info", output=None)


def reasons(*batches, operations=(CREATED,), begin=BEGIN):
    names, rows, offset = table_schema("records").names, [], 0
    for batch in (*begin, *batches):
        base_offset, crc = offset, hash(json.dumps(batch))
        for kind, fields in batch:
            row = (1, offset, 1, crc, kind, json.dumps(fields), base_offset)
            rows.append(dict(zip(names, row, strict=True)))
            offset += 1
    committed = pa.Table.from_pylist(rows, table_schema("records"))
    found = log_conforms({"operations": operations_table(operations), "committed": committed})
    assert {finding.check for finding in found} <= {LOG_CONFORMS}
    return [finding.reason for finding in found]
