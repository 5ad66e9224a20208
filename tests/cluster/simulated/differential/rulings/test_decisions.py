"""The node decides as the specification allows, and each planted bug is a difference."""

import random

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.catalogue import COMPARISONS, comparisons_with
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.differential.rulings.decisions import decisions_with
from kraftproof.node.core.controller import brokers, features, sessions, topics
from kraftproof.node.core.controller.partitions import fencing, isr
from kraftproof.node.core.controller.security import tokens
from kraftproof.node.core.metadata import changes, slices, snapshot
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.run.backends import specification_of
from tests.support.random_cases import random_cases

DRAWS = random_cases(200, share=20)
MOST_DRAWS = 60
SUPPORTERS = features._supporters


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


def _without_maximum(token, expiry_ms):
    return replace(token, expiration_timestamp=expiry_ms)


def test_many_draws_show_the_maximum_of_a_token(monkeypatch):
    monkeypatch.setattr(tokens, "_until", _without_maximum)
    assert sum(map(differs, range(MOST_DRAWS))) >= 20


def differs(seed):
    """Return whether a draw shows a difference."""
    try:
        compare(seed)
    except DifferenceError:
        return True
    return False
