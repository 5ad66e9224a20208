"""Logs that Kafka's controller wrote, alone or beside ours, against the specification."""

import pytest

from kraftproof.checkers.verdict import NotApplicableError
from tests.checkers.kraft.specification.committed_log import (
    BEGIN,
    FEATURES,
    FENCED,
    ID,
    LEVEL,
    MADE,
    NOTHING,
    TOPIC,
    changed,
    moved,
    partition,
    reasons,
    registered,
)

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
