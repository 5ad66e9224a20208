"""Snapshots against the logs: the fold, its two checks, and runs whose snapshots are damaged."""

import json
import shutil
from random import Random

import pyarrow as pa
import pytest

from kraftproof.checkers import check_run
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.history.tables import read_table, write_table
from kraftproof.checkers.kraft import kept, snapshots
from kraftproof.checkers.kraft.entities import Entities
from kraftproof.checkers.verdict import NotApplicableError, Verdict
from kraftproof.cluster.systems.kafka import files
from kraftproof.node.core.metadata.apply import apply
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.tools.record_json import record_data, type_name
from kraftproof.node.wire.records import metadata as records
from tests.checkers.kraft.test_node_logs import TOPIC, records_table
from tests.node.core.metadata.test_apply import _random_record
from tests.node.core.metadata.test_images import EVERYTHING, uuid
from tests.support.command import call

OTHER = "U" * 22
OFTEN = "metadata.log.max.record.bytes.between.snapshots=1500"


def as_json(written):
    return [(type_name(record), record_data(record)) for record in written]


def folded(written):
    entities = Entities()
    for kind, fields in as_json(written):
        entities.apply(kind, fields)
    return entities.listed()


ENDINGS = (
    records.RemoveDelegationTokenRecord(token_id="t"),
    records.RemoveUserScramCredentialRecord(name="u", mechanism=1),
    records.RemoveAccessControlEntryRecord(id=uuid(70)),
    records.FeatureLevelRecord(name="another.feature", feature_level=0),
    records.ConfigRecord(resource_type=4, resource_name="", name="k", value=None),
    records.ClientQuotaRecord(
        entity=(records.EntityData(entity_type="user", entity_name="u"),), key="k", remove=True
    ),
    records.FenceBrokerRecord(id=3, epoch=5),
    records.UnfenceBrokerRecord(id=1, epoch=6),
    records.BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=5, in_controlled_shutdown=-1),
    records.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=6, fenced=1),
    records.RegisterBrokerRecord(broker_id=5, incarnation_id=uuid(3), broker_epoch=9),
    records.RemoveTopicRecord(topic_id=uuid(11)),
)


LAST = (
    records.RegisterBrokerRecord(broker_id=3, incarnation_id=uuid(4), broker_epoch=10),
    records.UnregisterBrokerRecord(broker_id=1, broker_epoch=6),
    records.NoOpRecord(),
)


@pytest.mark.requirement("631-32")
@pytest.mark.parametrize("seed", range(10))
def test_a_log_of_every_record_type_and_the_nodes_snapshot_of_it_leave_the_same(seed):
    """The node's `apply` and the checkers' fold are two tellings of one document."""
    random, image, log = Random(seed), EMPTY_IMAGE, []
    written = [*EVERYTHING, *random.sample(ENDINGS, len(ENDINGS)), *LAST]
    for number in range(len(written) + 60):
        record = written[number] if number < len(written) else _random_record(random, image)
        image = apply(image, record)
        log.append(record)
        if number % 5 == 0 or number + 1 == len(written):
            assert folded(log) == folded(records_of(image))
    assert folded(log) == folded(records_of(image)) != {}


def test_a_change_of_what_is_not_there_leaves_nothing():
    assert (
        folded(
            [
                records.FenceBrokerRecord(id=3, epoch=5),
                records.PartitionChangeRecord(topic_id=uuid(1), partition_id=0, leader=1),
                records.RemoveTopicRecord(topic_id=uuid(1)),
            ]
        )
        == {}
    )


def dumped(entities):
    return None if entities is None else json.dumps(entities)


def snapshots_table(rows):
    """Rows of (node, offset, epoch, timestamp in ms, entities)."""
    names = ("node", "offset", "epoch", "timestamp_ms", "entities")
    filled = [
        dict(zip(names, row, strict=True)) | {"size": 1, "entities": dumped(row[4])} for row in rows
    ]
    return pa.Table.from_pylist(filled, table_schema("snapshots"))


def topic(topic_id, name="t"):
    return ("TOPIC_RECORD", {"name": name, "topicId": topic_id})


LOG = [
    ("LEADER_CHANGE", {}),
    topic(TOPIC),
    topic(OTHER, "u"),
    ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC}),
]


def committed(*kinds, first=0):
    return records_table(
        [(1, first + i, 1, i, kind, fields) for i, (kind, fields) in enumerate(kinds)]
    )


def unfounded(rows, log):
    tables = {"committed": log, "snapshots": snapshots_table(rows)}
    return [one.sentence for one in snapshots.snapshots_fold_log(tables)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [(1, 3, 1, 7, [topic(TOPIC), topic(OTHER, "u")]), (2, 4, 1, 9, [topic(OTHER, "u")])],
            None,
        ),
        ([(1, 3, 1, 7, [topic(TOPIC)])], f"it lacks topic {OTHER} name"),
        ([(1, 4, 1, 7, [topic(TOPIC), topic(OTHER, "u")])], f"it has topic {TOPIC} name, which is"),
        ([(1, 2, 1, 7, [topic(TOPIC, "v")])], 'name is "v" in it, but should be "t"'),
        (
            [(1, 2, 2, 7, [topic(TOPIC)])],
            "epoch 2 follows a record of epoch 1 in the committed log",
        ),
        ([(1, 9, 1, 7, [topic(TOPIC)])], None),
    ],
)
def test_a_snapshot_that_is_not_the_fold_of_the_log_is_found(rows, said):
    found = unfounded(rows, committed(*LOG))
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_a_log_that_was_cut_is_folded_from_the_snapshot_that_took_its_place():
    base = (1, 2, 1, 7, [topic(TOPIC)])
    log = committed(*LOG[2:], first=2)
    assert unfounded([base, (2, 4, 1, 9, [topic(OTHER, "u")])], log) == []
    (found,) = unfounded([base, (2, 4, 1, 9, [topic(TOPIC), topic(OTHER, "u")])], log)
    assert found.startswith(
        "node 2's snapshot at 4 of epoch 1 differs from the result of the log before"
    )
    assert unfounded([(2, 3, 1, 9, [])], log) == [], "no log reaches it from anywhere"


def test_snapshots_of_one_offset_that_differ_and_those_that_are_torn_are_found():
    def found(*rows):
        tables = {"snapshots": snapshots_table(rows)}
        return [one.sentence for one in snapshots.snapshots_agree(tables)]

    good = (1, 3, 1, 7, [topic(TOPIC), topic(OTHER, "u")])
    assert found(good, (2, 3, 1, 7, [topic(OTHER, "u"), topic(TOPIC)]), (2, 4, 1, 8, [])) == []
    (unequal,) = found(good, (2, 3, 1, 7, [topic(TOPIC)]))
    assert unequal == (
        "node 2's snapshot at 3 of epoch 1 is not node 1's snapshot at 3 of epoch 1;"
        f" it lacks topic {OTHER} name"
    )
    assert "the last timestamp of its log is 8 ms" in found(good, (2, 3, 1, 8, good[4]))[0]
    assert "of epoch 2" in found(good, (2, 3, 2, 7, good[4]))[0]
    assert found((4, 3, 1, None, None)) == [
        "node 4's snapshot at 3 of epoch 1 is no whole snapshot"
    ]


def test_a_record_type_that_is_not_known_makes_the_check_not_applicable():
    with pytest.raises(NotApplicableError, match="records of type FUTURE_RECORD are not known"):
        unfounded([(1, 1, 1, 7, [])], committed(("FUTURE_RECORD", {})))


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A simulated run whose nodes wrote snapshots all the time."""
    store = tmp_path_factory.mktemp("store")
    done = call(
        *("test", "--backend", "simulated", "--engine", "inline", "--nemesis", "kill"),
        *("--time-limit", "10", "--rate", "20", "--seed", "13", "--store", store),
        *("--node-config", OFTEN, "--min-bites", "1"),
    )
    (directory,) = store.iterdir()
    assert done.returncode in {0, 2}, done.stdout + done.stderr
    return directory


@pytest.fixture
def copied(collected, tmp_path):
    return shutil.copytree(collected, tmp_path / "run")


CHECKS = {snapshots.SNAPSHOTS_AGREE, snapshots.SNAPSHOTS_FOLD_LOG}


def judged(directory):
    verdict = check_run(directory, "inline")
    return verdict, {finding.check for finding in verdict.findings}


@pytest.mark.simulation
@pytest.mark.requirement("631-33")
def test_the_snapshots_of_a_run_are_folds_of_its_logs(copied):
    rows = read_table(copied / "tables", "snapshots").to_pylist()
    assert len({row["node"] for row in rows}) == 6
    assert len({row["offset"] for row in rows}) > 2
    assert min(read_table(copied / "tables", "records")["offset"].to_pylist()) > 0
    verdict, found = judged(copied)
    assert verdict.verdict is Verdict.VALID
    assert not found
    assert set(verdict.checked) >= CHECKS


@pytest.mark.simulation
@pytest.mark.parametrize("damage", ["lacks", "has", "differs"])
def test_a_snapshot_that_was_changed_makes_the_run_invalid(copied, damage):
    rows = read_table(copied / "tables", "snapshots").to_pylist()
    newest = max(rows, key=lambda row: (row["offset"], row["node"]))
    held = json.loads(newest["entities"])
    assert held, "brokers at least"
    if damage == "lacks":
        held.pop()
    elif damage == "has":
        held.append(["TOPIC_RECORD", {"name": "back-again", "topicId": TOPIC}])
    else:
        broker = next(fields for kind, fields in held if kind == "REGISTER_BROKER_RECORD")
        broker["brokerEpoch"] += 1
    newest["entities"] = json.dumps(held)
    write_table(copied / "tables", "snapshots", rows)
    verdict, found = judged(copied)
    assert verdict.verdict is Verdict.INVALID
    assert snapshots.SNAPSHOTS_FOLD_LOG in found
    assert found <= {*CHECKS, kept.TOPICS_KEPT}


@pytest.mark.simulation
def test_a_snapshot_file_that_was_cut_short_makes_the_run_invalid(copied):
    path = max((copied / "nodes" / "1").rglob("*.checkpoint"))
    path.write_bytes(path.read_bytes()[:-5])
    rows = files.snapshots(copied / "nodes" / "1", 1)
    assert [row["entities"] is None for row in rows] == [False] * (len(rows) - 1) + [True]
    write_table(copied / "tables", "snapshots", rows)
    verdict, found = judged(copied)
    assert (verdict.verdict, found) == (Verdict.INVALID, {snapshots.SNAPSHOTS_AGREE})


@pytest.mark.simulation
def test_a_run_without_the_table_lists_the_checks_as_not_applicable(copied):
    (copied / "tables" / "snapshots.parquet").unlink()
    verdict, _ = judged(copied)
    assert verdict.verdict is Verdict.VALID
    assert set(verdict.not_applicable) >= CHECKS
