"""One application serves all who hold the same image, and nobody else."""

import pytest

from kraftproof.cluster.simulated.node import shared_apply
from kraftproof.cluster.simulated.node.shared_apply import SharedApply
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid


def level(name, number, offset=0):
    record = records.FeatureLevelRecord(name=name, feature_level=number)
    return Batch(base_offset=offset, epoch=1, timestamp_ms=0, records=(record,))


def test_the_same_batch_on_an_equal_image_is_applied_once():
    apply, first = SharedApply(), level("metadata.version", 7)
    rebuilt = apply_batch(EMPTY_IMAGE, first)
    second = level("kraft.version", 1, 1)
    assert apply(apply(EMPTY_IMAGE, first), second) is apply(rebuilt, second)


def test_another_image_and_an_equal_batch_have_their_own():
    apply, batch = SharedApply(), level("kraft.version", 1)
    other = apply_batch(EMPTY_IMAGE, level("metadata.version", 7))
    ours, theirs = apply(EMPTY_IMAGE, batch), apply(other, batch)
    assert (ours, theirs) == (apply_batch(EMPTY_IMAGE, batch), apply_batch(other, batch))
    again = level("kraft.version", 1)
    assert apply(EMPTY_IMAGE, again) is not ours
    assert apply(EMPTY_IMAGE, again) == ours


def test_what_does_not_fit_is_remembered_for_nobody():
    apply = SharedApply()
    removal = records.RemoveTopicRecord(topic_id=Uuid(b"t" * 16))
    batch = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(removal,))
    for _ in range(2):
        with pytest.raises(ApplyError):
            apply(EMPTY_IMAGE, batch)


def test_it_keeps_so_many_and_no_more(monkeypatch):
    monkeypatch.setattr(shared_apply, "MAX_KEPT", 2)
    apply, batches = SharedApply(), [level("f", number) for number in range(3)]
    results = [apply(EMPTY_IMAGE, batch) for batch in batches]
    assert apply(EMPTY_IMAGE, batches[2]) is results[2]
    assert apply(EMPTY_IMAGE, batches[0]) is not results[0]


def test_who_replays_from_far_back_displaces_nobody(monkeypatch):
    monkeypatch.setattr(shared_apply, "MAX_KEPT", 2)
    apply, batches = SharedApply(), [level("f", number, number) for number in range(3)]
    results = [apply(EMPTY_IMAGE, batch) for batch in batches]
    assert apply(EMPTY_IMAGE, batches[0]) is not results[0]
    assert apply(EMPTY_IMAGE, batches[1]) is results[1]


def test_nothing_is_kept_of_a_run_that_is_over():
    apply, batch = SharedApply(), level("kraft.version", 1)
    was = apply(EMPTY_IMAGE, batch)
    apply.forget()
    assert apply(EMPTY_IMAGE, batch) is not was
