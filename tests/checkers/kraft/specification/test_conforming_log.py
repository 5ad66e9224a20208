"""Committed logs of a run against the specification: right ones, and one wrong batch each."""

import json

import msgspec
import pyarrow as pa
import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.kraft.specification import LOG_CONFORMS
from kraftproof.checkers.kraft.specification.conforming_log import log_conforms
from kraftproof.checkers.verdict import NotApplicableError

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


def test_a_log_that_conforms():
    removed = [("REMOVE_TOPIC_RECORD", {"topicId": ID})]
    assert reasons(MADE, FENCED, [changed(3, fenced=-1)], removed) == []


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(MADE[:-1], "but 2 were asked", id="a partition too few"),
        pytest.param([TOPIC, *MADE[2:]], "configurations", id="no configuration"),
        pytest.param([TOPIC, config("6"), *MADE[2:]], "configurations", id="another value"),
        pytest.param([*MADE[:2], partition(0, [1, 3]), partition(1, [1, 3])], "uneven", id="led"),
        pytest.param([*MADE[:2], partition(0, [1, 2]), partition(1, [3, 2])], "racks", id="racks"),
    ],
)
def test_a_topic_that_is_not_as_asked(made, said):
    (reason,) = reasons(made)
    assert said in reason


def test_two_equal_batches_of_one_moment_have_the_same_crc():
    """The simulation showed this at seed 910145: a registration came twice in a millisecond."""
    again = registered(3, "b")
    begin = [batch for batch in BEGIN if batch != [changed(3, fenced=-1)]]
    assert reasons(again, again, begin=begin) == []
    assert reasons([*again, *again], begin=begin) == [
        "a registration has written RegisterBrokerRecord, RegisterBrokerRecord"
    ]


def test_a_topic_of_an_unknown_request_is_judged_by_itself():
    uneven = [*MADE[:2], partition(0, [1, 2]), partition(1, [1, 2])]
    assert reasons(uneven, operations=[UNKNOWN]) == []
    strange = [*MADE[:2], partition(0, [1, 2], leader=3), partition(1, [1, 2])]
    assert "led by 3" in reasons(strange, operations=[UNKNOWN])[0]


def test_a_fencing_that_forgets_a_partition():
    assert "has the ISR" in reasons(MADE, FENCED[:-1])[0]


def test_a_change_of_a_leader_that_no_leader_may_ask_for():
    assert reasons(MADE, [moved(0, [1])]) == [], "a follower lags"
    for change in (moved(0, [1, 2]), moved(0, [3]), moved(0, leader=3), moved(0)):
        assert "became" in reasons(MADE, [change])[0]
    assert reasons(MADE, [moved(0, [1]), moved(1, [3])]) != [], "two leaders"


def test_wishes_of_clients_are_guessed_from_their_records():
    of_broker = (
        "CONFIG_RECORD",
        {"resourceType": 4, "resourceName": "1", "name": "k", "value": "v"},
    )
    fields = {"partitionId": 1, "topicId": ID, "replicas": [2, 3], "removingReplicas": [3]}
    places = [str(replica) * 22 for replica in (1, 2, 3)]
    adding = {"replicas": [1, 2, 3], "addingReplicas": [1], "directories": places}
    begun = ("PARTITION_CHANGE_RECORD", {**fields, **adding})
    back = {"replicas": [3, 2], "addingReplicas": [], "removingReplicas": [], "leader": 3}
    back["directories"] = [places[2], places[1]]
    cancelled = ("PARTITION_CHANGE_RECORD", {**fields, **back})
    for batches in (
        ([config("6")], [of_broker]),
        ([config(None)],),
        ([partition(2, [1, 2])],),
        ([begun], [cancelled]),
    ):
        assert reasons(MADE, *batches) == []
    assert reasons(MADE, [partition(3, [1, 2])]) != []
    assert reasons(MADE, [partition(2, [1])]) != []
    assert reasons(MADE, [config("no number")]) != []


def test_a_shutdown_and_a_return():
    leaves = [changed(3, inControlledShutdown=1), *FENCED[1:]]
    assert reasons(MADE, leaves, [changed(3, fenced=1)]) == []
    assert "has the ISR" in reasons(MADE, leaves[:-1])[0]


def test_an_unregistered_broker_leaves():
    gone = ("UNREGISTER_BROKER_RECORD", {"brokerId": 3, "brokerEpoch": 3})
    assert reasons(MADE, [gone, *FENCED[1:]]) == []
    assert "has the ISR" in reasons(MADE, [gone])[0]


def test_a_removal_of_nothing_contradicts_the_log():
    removed = [("REMOVE_TOPIC_RECORD", {"topicId": GONE})]
    assert "no topic" in reasons(MADE, removed)[0]


CONTROLLER = {
    "controllerId": 1,
    "zkMigrationReady": False,
    "endPoints": [{"name": "C", "host": "h", "port": 1, "securityProtocol": 0}],
    "features": FEATURES,
}
BOOTSTRAP = [("BEGIN_TRANSACTION_RECORD", {}), *LEVEL, ("END_TRANSACTION_RECORD", {})]
REMOVED = ("REMOVE_TOPIC_RECORD", {"topicId": ID})


def controller(**fields):
    return ("REGISTER_CONTROLLER_RECORD", {**CONTROLLER, **fields})


def beside_kafka():
    """Return the begin of a log whose first broker supports a feature of Kafka."""
    group = {"name": "group.version", "minSupportedVersion": 0, "maxSupportedVersion": 1}
    kind, fields = BEGIN[1][0]
    return [BEGIN[0], [(kind, {**fields, "features": [*FEATURES, group]})], *BEGIN[2:]]


def of_kafka(*batches):
    """Return the complaints about a log that Kafka's controller wrote."""
    return reasons([*NOTHING, controller()], *batches)


def test_kafkas_controller_writes_the_results_of_several_requests_in_a_batch():
    returns = [changed(3, fenced=-1), moved(0, [1, 3])]
    assert of_kafka([*NOTHING, controller(), *MADE], [*FENCED[1:], FENCED[0]]) == []
    assert of_kafka([*MADE, REMOVED, *NOTHING]) == []
    assert "has the ISR" in of_kafka([*MADE, FENCED[1], FENCED[0], *NOTHING])[0]
    assert "has the ISR" in of_kafka(MADE, [*FENCED[1:], FENCED[0]], returns)[0]


def test_a_wrong_result_among_others_of_a_batch_is_found():
    wrong = [*MADE[:2], partition(0, [1, 3]), partition(1, [1, 3])]
    (reason,) = of_kafka([*NOTHING, controller(), *wrong])
    assert "uneven" in reason


def test_a_broker_of_kafka_tells_of_controllers_of_kafka():
    assert reasons([*MADE, REMOVED], begin=beside_kafka()) == []


def test_a_batch_of_one_request_is_right_beside_a_broker_of_kafka():
    begin = beside_kafka()
    gone = ("UNREGISTER_BROKER_RECORD", {"brokerId": 3, "brokerEpoch": 3})
    assert reasons(MADE, [gone, *FENCED[1:]], begin=begin) == []
    assert "has the ISR" in reasons(MADE, [gone], begin=begin)[0]


def test_our_controller_writes_one_result_a_batch():
    assert "was not asked for" in reasons([*MADE, REMOVED])[0]


def test_a_registration_of_a_controller_supports_the_level_of_the_cluster():
    assert of_kafka([controller()]) == []
    old = [{**FEATURES[0], "maxSupportedVersion": 20}]
    assert "does not support metadata.version 21" in of_kafka([controller(features=old)])[0]
    assert "without a listener" in of_kafka([controller(endPoints=[])])[0]
    assert "ready for a migration" in of_kafka([controller(zkMigrationReady=True)])[0]


def test_a_bootstrap_has_features_and_defaults_of_brokers_only():
    def begun(*more):
        bootstrap = [BOOTSTRAP[0], *LEVEL, *more, BOOTSTRAP[2]]
        return reasons(begin=[bootstrap, registered(1, "a", len(bootstrap))])

    defaults = {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "1"}
    assert begun(("CONFIG_RECORD", defaults)) == []
    assert begun(("ZK_MIGRATION_STATE_RECORD", {"zkMigrationState": 0})) == []
    assert "ZkMigration" in begun(("ZK_MIGRATION_STATE_RECORD", {"zkMigrationState": 1}))[0]
    assert "configures '1'" in begun(("CONFIG_RECORD", {**defaults, "resourceName": "1"}))[0]
    assert "sets metadata.version" in begun(*LEVEL)[0]
    assert "has written a TopicRecord" in begun(TOPIC)[0]
    assert "has begun already" in of_kafka(BOOTSTRAP)[0]


def test_a_leader_may_change_the_isr_of_its_partition_only():
    assert of_kafka(MADE, [moved(0, [1])], [moved(0, [1, 3])]) == []
    assert "led by 1" in of_kafka(MADE, [moved(0, [3])])[0]
    assert "led by 1" in of_kafka(MADE, [moved(0, [1, 2])])[0]
    assert "without a cause" in of_kafka(MADE, [moved(0, [1], 3)])[0]
    fenced = [*FENCED[1:], FENCED[0]]
    assert "fenced or shutting down" in of_kafka(MADE, fenced, [moved(0, [1, 3])])[0]


def test_a_broker_assigns_its_own_directories_to_replicas():
    unassigned = "A" * 22

    def assigned(*directories):
        kind, fields = moved(0)
        return of_kafka(MADE, [(kind, {**fields, "directories": list(directories)})])

    assert assigned("1" * 22, unassigned) == assigned("1" * 22, "3" * 22) == []
    assert "has 1 directories for the replicas (1, 3)" in assigned("1" * 22)[0]
    assert "a directory on broker 3 that" in assigned("1" * 22, "2" * 22)[0]


def test_a_log_of_another_kind_is_not_judged():
    with pytest.raises(NotApplicableError, match="a FUTURE_RECORD, which the specification"):
        reasons([("FUTURE_RECORD", {"key": "k"})])
    eligible = {"name": "eligible.leader.replicas.version", "featureLevel": 1}
    with pytest.raises(
        NotApplicableError, match=r"the feature eligible\.leader\.replicas\.version"
    ):
        reasons([*BOOTSTRAP[:1], ("FEATURE_LEVEL_RECORD", eligible), *BOOTSTRAP[1:]])
    with pytest.raises(NotApplicableError, match="without all fields"):
        reasons([("TOPIC_RECORD", {"name": "t"})])
    with pytest.raises(NotApplicableError, match="registers no broker"):
        reasons(MADE, begin=[LEVEL])
