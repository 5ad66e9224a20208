"""The node decides as the specification allows, and each planted bug is a difference."""

import random

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.catalogue import COMPARISONS, comparisons_with
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.differential.rulings.decisions import decisions_with
from kraftproof.node.core.controller import brokers, features, sessions, topics
from kraftproof.node.core.controller.configs import alter
from kraftproof.node.core.controller.partitions import directories, fencing, isr
from kraftproof.node.core.controller.security import tokens
from kraftproof.node.core.metadata import acl_index, changes, slices, snapshot
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from kraftproof.run.backends import specification_of
from tests.support.random_cases import random_cases

DRAWS = random_cases(200, share=20)
MOST_DRAWS = 60
SUPPORTERS = features._supporters
DECIDE, ERROR_OF_EPOCHS, MINUS = alter._decide, isr._error_of_epochs, acl_index.AclIndex.minus


def compare(seed):
    decisions_with(specification_of)(random.Random(f"decisions {seed}"))


def compare_all():
    for seed in range(MOST_DRAWS):
        compare(seed)


def test_the_node_decides_as_the_specification_allows():
    for seed in range(DRAWS):
        compare(seed)


def test_only_a_specification_judges_decisions():
    assert comparisons_with(None) == COMPARISONS
    (added,) = set(comparisons_with(specification_of)) - set(COMPARISONS)
    assert added.invariant == "DecisionsConform"
    added.compare(random.Random(0))


def _unchanged(digest, *_):
    return digest


PLANTED = [
    (tokens, "owns_or_renews", lambda *_: True),
    (tokens, "is_expired", lambda *_: False),
    (features, "_refusal", lambda *_: None),
    (brokers, "_unacceptable", lambda *_: None),
    (brokers, "is_reserved", lambda directory: not any(directory)),
    (brokers, "_has_own_directories", lambda _, request: bool(request.log_dirs)),
    (isr, "_is_eligible", lambda *_: True),
    (isr, "_error_of_epochs", lambda *_: ErrorCode.NONE),
    (fencing, "_leave", lambda *_: ()),
    (topics, "_shown_configs", lambda *_: ()),
    (slices, "work_of", lambda *_: 1),
    (changes, "update_digest", _unchanged),
    (changes, "_moving", lambda *_: ()),
    (changes, "_counted", lambda names, *_: names),
    (snapshot, "_partition", lambda _: None),
    (sessions.Sessions, "moves_are_seen", lambda *_: True),
    (tokens, "_until", lambda token, _: token),
]


@pytest.mark.parametrize(("module", "function", "bug"), PLANTED)
def test_a_planted_bug_is_a_difference(monkeypatch, module, function, bug):
    monkeypatch.setattr(module, function, bug)
    with pytest.raises((DifferenceError, ApplyError)):
        compare_all()


def _active_supporters(image, name):
    """Return the supporters of a feature without the fenced brokers."""
    fenced = {f"broker {one.broker_id}" for one in image.brokers.values() if one.fenced}
    return [entry for entry in SUPPORTERS(image, name) if entry[0] not in fenced]


def test_many_draws_show_that_fenced_brokers_limit_features(monkeypatch):
    # In a half of the draws the two other voters of the quorum limit the features, too.
    monkeypatch.setattr(features, "_supporters", _active_supporters)
    assert sum(map(differs, range(2 * MOST_DRAWS))) >= 8


def _validated_with_elections(image, request, *rest):
    """Return the outcome of a change; a request that only validates keeps the elections."""
    outcome = DECIDE(image, replace(request, validate_only=False), *rest)
    if not request.validate_only:
        return outcome
    elections = [one for one in outcome.records if isinstance(one, PartitionChangeRecord)]
    return replace(outcome, records=tuple(elections))


def _without_old_partition_epochs(was, caller, proposal):
    """Return the error of the epochs, without the error of an old partition epoch."""
    error = ERROR_OF_EPOCHS(was, caller, proposal)
    return None if error is ErrorCode.INVALID_UPDATE_VERSION else error


def _without_lengths(index, entry):
    """Return the index without an entry, in which other entries of a prefix are not found."""
    left = MINUS(index, entry)
    key = acl_index._key(entry)
    if key not in left.by_resource:
        return left
    return replace(left, lengths=acl_index._counted(left.lengths, key, -1))


@pytest.mark.parametrize(
    ("owner", "function", "bug", "least"),
    [
        (alter, "_decide", _validated_with_elections, 4),
        (isr, "_error_of_epochs", _without_old_partition_epochs, 12),
        (acl_index.AclIndex, "minus", _without_lengths, 2),
    ],
)
def test_many_draws_show_a_bug(monkeypatch, owner, function, bug, least):
    """Nobody found these three bugs that an engineer had planted without knowing the checks."""
    monkeypatch.setattr(owner, function, bug)
    assert sum(map(differs, range(MOST_DRAWS))) >= least


def _without_maximum(token, expiry_ms):
    return replace(token, expiration_timestamp=expiry_ms)


def test_many_draws_show_the_maximum_of_a_token(monkeypatch):
    monkeypatch.setattr(tokens, "_until", _without_maximum)
    assert sum(map(differs, range(MOST_DRAWS))) >= 20


CHANGE_PARTITION = directories.change_partition


def _without_first_directories(image, was, may_lead, target):
    """Return the change of a partition; one of an older level gets no directories."""
    if not was.directories:
        target = replace(target, directories=())
    return CHANGE_PARTITION(image, was, may_lead, target)


def test_many_draws_show_partitions_of_an_older_level(monkeypatch):
    """The partitions of metadata.version 16 and older have no directories (KIP-858)."""
    monkeypatch.setattr(directories, "change_partition", _without_first_directories)
    assert sum(map(differs, range(MOST_DRAWS))) >= 20


def differs(seed):
    """Return whether a draw shows a difference."""
    try:
        compare(seed)
    except DifferenceError:
        return True
    return False
