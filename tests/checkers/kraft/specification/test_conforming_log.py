"""Committed logs of a run against the specification: right ones, and one wrong batch each."""

import pytest

from tests.checkers.kraft.specification.committed_log import (
    BEGIN,
    FENCED,
    GONE,
    ID,
    MADE,
    TOPIC,
    UNKNOWN,
    changed,
    config,
    moved,
    partition,
    reasons,
    registered,
)


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
