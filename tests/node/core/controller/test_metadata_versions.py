"""Levels of metadata.version: upgrades, downgrades, and the versions of records (KIP-778)."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.snapshot import batches_of
from kraftproof.node.core.metadata.version import bootstrap_of, level_of
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import broker_registration_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, WriteLevel
from kraftproof.node.wire.records.batches import decode_batches, encode_batch, record_layouts
from tests.node.core.controller.desk import Desk, creation, heartbeat, registration
from tests.node.core.controller.partitions.asking import fence, partition
from tests.node.core.controller.test_features import VERSION, level, update

SAFE, UNSAFE = 2, 3
REGISTER, PARTITION, CHANGE, BROKER_CHANGE = (
    kind.KEY
    for kind in (
        records.RegisterBrokerRecord,
        records.PartitionRecord,
        records.PartitionChangeRecord,
        records.BrokerRegistrationChangeRecord,
    )
)


def at(first: int, brokers: int = 2) -> Desk:
    """A cluster of a level, with brokers that support every level."""
    desk = Desk.active()
    desk.lose()
    desk.raft.replicate((records.FeatureLevelRecord(name=VERSION, feature_level=first),))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    feature = broker_registration_request.Feature(
        name=VERSION, min_supported_version=7, max_supported_version=30
    )
    for broker_id in range(1, brokers + 1):
        asked = replace(registration(broker_id), features=(feature,))
        epoch = desk.ask(asked).broker_epoch
        desk.ask(heartbeat(broker_id, epoch))
    return desk


@pytest.mark.requirement("631-89")
@pytest.mark.parametrize(
    ("present", "wanted", "kind"),
    [
        (21, 22, 1),
        (7, 30, 1),
        (21, 21, 1),
        (22, 21, SAFE),
        (21, 18, SAFE),
        (29, 23, SAFE),
        (22, 21, UNSAFE),
    ],
)
def test_an_upgrade_and_a_downgrade_without_a_loss(present: int, wanted: int, kind: int) -> None:
    desk = at(present)
    assert desk.ask(update(level(VERSION, wanted, kind))).error_code == ErrorCode.NONE
    assert level_of(desk.image) == wanted
    desk.lose()
    desk.win()
    assert level_of(desk.image) == wanted


@pytest.mark.requirement("631-89")
@pytest.mark.parametrize(
    ("present", "wanted", "kind", "reason"),
    [
        (23, 22, SAFE, "the levels 23 have records that would be lost"),
        (30, 7, SAFE, "the levels 8, 11, 13, 14, 15, 17, 23, 30 have records"),
        (23, 22, UNSAFE, "an unsafe downgrade of metadata.version is not supported"),
        (22, 21, 1, "21 needs the kind of a downgrade"),
        (21, 22, SAFE, "22 is no downgrade"),
        (21, 6, SAFE, "supports the levels 7 to 30"),
        (21, 31, 1, "supports the levels 7 to 30"),
    ],
)
def test_each_other_change_is_refused_with_its_reason(
    present: int, wanted: int, kind: int, reason: str
) -> None:
    desk = at(present)
    answer = desk.ask(update(level(VERSION, wanted, kind)))
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert reason in answer.error_message
    assert level_of(desk.image) == present


def test_a_broker_without_the_new_level_holds_back_the_upgrade() -> None:
    desk = at(21)
    desk.ask(registration(7))
    answer = desk.ask(update(level(VERSION, 22)))
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "broker 7 supports the levels 21 to 21" in answer.error_message


def written(desk: Desk) -> dict[int, int]:
    """The version of the last record of each type in the log, from the bytes."""
    found: dict[int, int] = {}
    offset = Offset(0)
    while batches := desk.raft.log.read(offset, 1 << 40):
        for batch in batches:
            found |= versions_of(batch)
        offset = Offset(batches[-1].next_offset)
    return found


def versions_of(batch: Batch) -> dict[int, int]:
    if batch.is_control:
        return {}
    layouts = record_layouts(memoryview(encode_batch(batch)))
    pairs = zip(batch.records, layouts, strict=True)
    return {record.KEY: layout.version for record, layout in pairs}


VERSIONS = [
    (7, (1, 0, 0, 1)),
    (8, (2, 0, 0, 1)),
    (16, (2, 0, 0, 1)),
    (17, (3, 1, 1, 2)),
    (22, (3, 1, 1, 2)),
    (23, (3, 2, 2, 2)),
    (30, (4, 2, 2, 3)),
]


@pytest.mark.requirement("631-15")
@pytest.mark.requirement("631-17")
@pytest.mark.parametrize(("present", "versions"), VERSIONS)
def test_records_and_snapshots_have_the_versions_of_the_level(
    present: int, versions: tuple[int, ...]
) -> None:
    desk = at(present)
    desk.ask(creation("t", replicas=((1, 2),)))
    fence(desk, 1)
    assert partition(desk).leader == 2
    assert bool(partition(desk).directories) == (present >= 17)
    found = written(desk)
    assert bool(desk.image.brokers[1].log_dirs) == (present >= 17)
    assert tuple(found[key] for key in (REGISTER, PARTITION, CHANGE, BROKER_CHANGE)) == versions
    end = SnapshotId(Offset(9), Epoch(1))
    data = b"".join(map(encode_batch, batches_of(end, desk.image, 0)))
    stored: dict[int, int] = {}
    for batch in decode_batches(data):
        stored |= versions_of(batch)
    assert (stored[REGISTER], stored[PARTITION]) == versions[:2]


def test_the_level_changes_the_versions_from_the_next_batch_on() -> None:
    desk = at(21)
    desk.ask(creation("t", replicas=((1, 2),)))
    assert written(desk)[PARTITION] == 1
    desk.ask(update(level(VERSION, 23)))
    assert written(desk)[PARTITION] == 1
    desk.ask(creation("u", replicas=((1, 2),)))
    assert written(desk)[PARTITION] == 2


def test_the_first_records_are_one_batch() -> None:
    """A leader that dies between two batches would leave a cluster without its credentials."""
    credential = records.UserScramCredentialRecord(
        name="admin", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
    )
    first = records.FeatureLevelRecord(name=VERSION, feature_level=25)
    desk = Desk(bootstrap=(credential, first))
    desk.win()
    _, batch = desk.raft.log.read(Offset(0), 1 << 20)
    assert batch.records == (first, credential)
    assert batch.level == WriteLevel(25)


def test_the_first_records_are_those_of_the_formatting() -> None:
    given = (
        records.ConfigRecord(resource_type=4, resource_name="", name="n", value="v"),
        records.FeatureLevelRecord(name=VERSION, feature_level=25),
    )
    first, others = bootstrap_of(given)
    assert first.feature_level == 25
    assert others == given[:1]
    assert bootstrap_of(())[0].feature_level == 21
