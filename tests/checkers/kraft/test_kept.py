"""What clients were told against what logs and snapshots leave, on runs that keep it and don't."""

import msgspec
import pytest

from kraftproof.checkers.history.tables import operations_table, rows_of
from kraftproof.checkers.kraft.kept import SNAPSHOT, kept, registrations_kept, topics_kept
from kraftproof.checkers.verdict import NotApplicableError
from tests.checkers.kraft.test_node_logs import (
    CREATED,
    DELETED,
    REGISTERED,
    TOPIC,
    UNREGISTERED,
    records_table,
    registered,
)
from tests.checkers.kraft.test_snapshots import committed, snapshots_table, topic

OTHER = "U" * 22
NO_OP = ("NO_OP_RECORD", {})
GONE = ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC})
RECREATED = msgspec.structs.replace(
    CREATED, index=2, invoke_index=4, complete_index=5, output={"outcome": "created", "id": OTHER}
)


def end(*, held=None, at=5, log=()):
    """The relation of a snapshot and of the records after it, or of a log from 0."""
    rows = [] if held is None else [(1, at, 1, 7, held)]
    return kept(committed(*log, first=0 if held is None else at), snapshots_table(rows))


def found(operations, rows, find=topics_kept):
    tables = {"operations": operations_table(operations), "kept": rows}
    return [finding.sentence for finding in find(tables)]


def test_torn_snapshots_are_left_out():
    rows = kept(records_table([]), snapshots_table([(1, 3, 1, 7, []), (2, 4, 1, None, None)]))
    assert list(rows_of(rows, "offset", "type", "json")) == [(3, SNAPSHOT, "[]")]


@pytest.mark.parametrize(
    ("operations", "rows", "wanted"),
    [
        ([CREATED], end(held=[topic(TOPIC)]), None),
        ([CREATED], end(held=[], log=[topic(TOPIC)]), None),
        ([CREATED], end(log=[NO_OP, topic(TOPIC)]), None),
        (
            [CREATED],
            end(held=[]),
            f"topic t ({TOPIC}) was acknowledged; at the end the topic is in no",
        ),
        ([CREATED], end(held=[topic(TOPIC, "u")]), "creation of topic t"),
        ([CREATED], end(held=[topic(TOPIC)], log=[NO_OP, GONE]), "creation of topic t"),
        ([CREATED, DELETED], end(held=[topic(TOPIC)], log=[GONE]), None),
        ([CREATED, DELETED], end(held=[]), None),
        (
            [CREATED, DELETED],
            end(held=[topic(TOPIC)]),
            f"delete showed topic t ({TOPIC}) as removed; at the end",
        ),
        ([CREATED, DELETED, RECREATED], end(held=[topic(OTHER)]), None),
        ([CREATED, DELETED, RECREATED], end(held=[]), f"creation of topic t ({OTHER})"),
        ([CREATED, msgspec.structs.replace(DELETED, status="info")], end(held=[]), None),
        ([], end(held=[topic(TOPIC)]), "no create can have made the topic"),
        ([], end(held=[topic(TOPIC, "__internal")]), None),
        ([msgspec.structs.replace(CREATED, status="info")], end(held=[topic(TOPIC)]), None),
        ([msgspec.structs.replace(CREATED, status="fail")], end(held=[topic(TOPIC)]), "no create"),
    ],
)
def test_topics_told_and_topics_kept(operations, rows, wanted):
    sentences = found(operations, rows)
    assert len(sentences) == (wanted is not None)
    assert wanted is None or wanted in sentences[0]


def broker(epoch):
    return registered(epoch)


@pytest.mark.parametrize(
    ("operations", "rows", "wanted"),
    [
        ([REGISTERED], end(held=[broker(5)]), None),
        ([REGISTERED], end(held=[broker(9)]), None),
        ([REGISTERED], end(held=[broker(4)], log=[broker(5)]), None),
        (
            [REGISTERED],
            end(held=[broker(4)]),
            "epoch 5 was acknowledged; at the end the logs and snapshots have epoch 4",
        ),
        (
            [REGISTERED],
            end(held=[]),
            "epoch 5 was acknowledged; at the end the logs and snapshots have no epoch",
        ),
        ([REGISTERED, UNREGISTERED], end(held=[]), None),
        ([], end(held=[broker(5)]), None),
    ],
)
def test_registrations_told_and_registrations_kept(operations, rows, wanted):
    sentences = found(operations, rows, registrations_kept)
    assert len(sentences) == (wanted is not None)
    assert wanted is None or wanted in sentences[0]


def test_a_log_with_a_gap_tells_nothing():
    rows = kept(committed(NO_OP, first=6), snapshots_table([(1, 5, 1, 7, [])]))
    with pytest.raises(NotApplicableError, match="offset 5 is in no log, nor in a snapshot"):
        found([], rows)
    with pytest.raises(NotApplicableError, match="records of type FUTURE are not known"):
        found([], end(held=[["FUTURE", {}]]))


def test_the_newest_snapshot_counts_and_the_log_only_above_it():
    old, new = (1, 3, 1, 7, [topic(TOPIC)]), (1, 5, 1, 7, [])
    log = committed(GONE, NO_OP, first=4)
    assert found([CREATED, DELETED], kept(log, snapshots_table([old, new]))) == []
    assert found([CREATED, DELETED], kept(log, snapshots_table([new, old]))) == []
    with pytest.raises(NotApplicableError, match="offset 3 is in no log"):
        found([CREATED, DELETED], kept(log, snapshots_table([old])))
