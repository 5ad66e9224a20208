"""A broker answers and proposes as the models say, and each planted bug is a difference."""

import random

import pytest

from kraftproof.cluster.simulated.differential.data import led_model
from kraftproof.cluster.simulated.differential.data.parts import compare_parts
from kraftproof.cluster.simulated.differential.data.proposals import compare_proposals
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.node.core.broker.data import (
    access,
    alter_partition,
    coordinators,
    delete_records,
    describe_producers,
    fetch,
    fetch_answer,
    fetch_ranges,
    list_offsets,
    log_dirs,
    produce,
    produce_answer,
    producer_ids,
)
from kraftproof.node.core.metadata.acl_index import AclIndex
from kraftproof.node.core.partition import isr
from kraftproof.node.core.partition.isr import IsrState
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.progress import FollowerProgress
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.security import authorizer
from kraftproof.node.wire.errors import ErrorCode
from tests.support.random_cases import random_cases

MOST_DRAWS = 60


def _ignored(*_: object, **__: object) -> None:
    """Stand for a method that does nothing."""


def _unknown(*, has_id: bool) -> ErrorCode:
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if has_id else ErrorCode.UNKNOWN_TOPIC_ID


def compare_all(compare):
    for seed in range(MOST_DRAWS):
        compare(random.Random(f"planted {seed}"))


PLANTED = [
    (compare_parts, access, "check_epoch", lambda *_: ErrorCode.NONE),
    (compare_parts, authorizer, "decide_any", lambda *_, default: default),
    (compare_parts, authorizer, "_dominates", lambda *_: False),
    (compare_parts, AclIndex, "of_kind", lambda self, _: iter(self.all_entries())),
    (compare_parts, produce, "denied_writes", lambda *_, **__: {}),
    (compare_parts, produce_answer, "LEADERS_FROM", 11),
    (compare_parts, fetch_ranges, "unknown_topic", _unknown),
    (compare_parts, fetch, "LONGEST_WAIT_MS", 39),
    (compare_parts, fetch_answer, "_endpoints", lambda *_: ()),
    (compare_parts, fetch_ranges, "REPLICA_STATE_FROM", 16),
    (compare_parts, list_offsets, "_EPOCHS_FROM", 5),
    (compare_parts, delete_records, "denied_topics", lambda *_: frozenset()),
    (compare_parts, describe_producers, "denied_topics", lambda *_: frozenset()),
    (compare_parts, log_dirs, "_failed", lambda path: log_dirs.Result(log_dir=path)),
    (compare_parts, coordinators, "java_hash", len),
    (compare_parts, producer_ids, "_RETRY_NS", 50_000_001),
    (compare_parts, Purgatory, "deadline", _ignored),
    (compare_proposals, alter_partition, "RETRY_NS", 50_000_001),
    (compare_proposals, alter_partition.AlterPartitionSender, "_give_up", _ignored),
    (compare_proposals, IsrState, "followed", lambda self, _: self),
    (compare_proposals, Leader, "_is_eligible", lambda *_: True),
    (compare_proposals, Leader, "shrink_lagging", _ignored),
    (compare_proposals, isr, "kind_of", lambda _: isr.AnswerKind.NOT_APPLIED),
    (compare_proposals, FollowerProgress, "is_caught_up", lambda *_: True),
]


@pytest.mark.parametrize("compare", [compare_parts, compare_proposals])
def test_clean_brokers_agree_in_more_draws(compare):
    for seed in range(random_cases(400, share=20)):
        compare(random.Random(f"more {seed}"))


@pytest.mark.parametrize(("compare", "owner", "attribute", "bug"), PLANTED)
def test_a_planted_bug_is_a_difference(monkeypatch, compare, owner, attribute, bug):
    monkeypatch.setattr(owner, attribute, bug)
    with pytest.raises(DifferenceError):
        compare_all(compare)


def test_a_late_answer_of_a_former_controller_is_not_taken_for_the_new_one(monkeypatch):
    """A number that a later request has again."""
    send = alter_partition.AlterPartitionSender._send

    def with_old_number(self, *arguments):
        self._serial = 0
        send(self, *arguments)

    monkeypatch.setattr(alter_partition.AlterPartitionSender, "_send", with_old_number)
    with pytest.raises(DifferenceError):
        compare_all(compare_proposals)


@pytest.mark.parametrize(
    ("times", "lags"),
    [
        ([], True),
        ([(5, 3, 3)], False),
        ([(5, 3, 4)], True),
        ([(5, 3, 3), (6, 3, 9)], False),
        ([(5, 3, 3), (led_model.LAG_NS, 4, 9)], False),
        ([(5, 0, 3), (6, 3, 9)], False),
        ([(5, 0, 3), (6, 2, 9)], True),
    ],
)
def test_a_copy_lags_by_the_time_since_it_had_all_records(times, lags):
    copy = led_model.Copy(times=times)
    assert copy.lags(20, led_model.LAG_NS + 5) is lags


def test_leaders_hear_of_brokers_while_another_topic_changes(monkeypatch):
    """A survivor of the generated mutants: an image with both changes left leaders behind."""
    follow = Replicas.follow

    def without_brokers(self, image, changed, now):
        before = self.image
        changes_both = before is not None and before.partitions is not image.partitions
        if changes_both:
            monkeypatch.setattr(Replicas, "_follow_brokers", _ignored)
        follow(self, image, changed, now)
        monkeypatch.undo()
        monkeypatch.setattr(Replicas, "follow", without_brokers)

    monkeypatch.setattr(Replicas, "follow", without_brokers)
    with pytest.raises(DifferenceError):
        compare_all(compare_proposals)


def test_the_records_of_a_start_are_counted(monkeypatch):
    """A survivor of the generated mutants: a leader took its recovered log for empty."""
    restore = LogIndex.restore
    monkeypatch.setattr(LogIndex, "restore", lambda self, end, *_: restore(self, end, (), 0))
    with pytest.raises(DifferenceError):
        compare_all(compare_parts)


def test_a_follower_may_have_the_id_zero(monkeypatch):
    """A survivor of the generated mutants: the Fetches of broker 0 did not count."""
    record = fetch.FetchService._record_progress

    def of_others(self, parts, replica, *rest):
        if replica:
            return record(self, parts, replica, *rest)
        return [self.read(part, replica) for part in parts]

    monkeypatch.setattr(fetch.FetchService, "_record_progress", of_others)
    with pytest.raises(DifferenceError):
        compare_all(compare_proposals)
