"""Quotas, configurations and batches are judged as by the rules, and planted bugs differ."""

import random

import pytest

from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.differential.rules.batches import compare_batches
from kraftproof.cluster.simulated.differential.rules.config_changes import compare_config_changes
from kraftproof.cluster.simulated.differential.rules.descriptions import compare_descriptions
from kraftproof.cluster.simulated.differential.rules.quota_model import Rate, bound_of
from kraftproof.cluster.simulated.differential.rules.quotas import compare_quotas
from kraftproof.cluster.simulated.differential.rules.values import compare_values
from kraftproof.node.core.broker import config_changes, configs
from kraftproof.node.core.configs import effective, values
from kraftproof.node.core.partition import validation
from kraftproof.node.core.quotas import applied, connection_rates, mutations, rate, request_times

MOST_DRAWS = 60
SECOND = 1_000_000_000


def compare_all(compare):
    for seed in range(MOST_DRAWS):
        compare(random.Random(f"planted {seed}"))


def _ignored(*_: object, **__: object) -> None:
    """Stand for a function that does nothing."""


PLANTED = [
    (compare_quotas, applied, "_LEVELS", applied._LEVELS[::-1]),
    (compare_quotas, connection_rates, "_usual_form", str),
    (compare_quotas, mutations._Bucket, "since", property(lambda _: 0, _ignored)),
    (compare_quotas, mutations, "STRICT_FROM", dict.fromkeys(mutations.STRICT_FROM, 0)),
    (compare_quotas, rate.WindowedRate, "_forget", _ignored),
    (compare_quotas, request_times, "_is_exempt", lambda _: False),
    (compare_values, values, "LONGEST_VALUE", 32_766),
    (compare_values, values, "_expected", lambda _: "another value"),
    (compare_values, values, "_is_allowed", lambda *_: True),
    (compare_descriptions, configs, "_sounds_secret", lambda _: False),
    (compare_descriptions, configs, "_wanted", lambda entries, _: tuple(entries)),
    (compare_descriptions, effective.Layers, "found", lambda *_: iter(())),
    (compare_config_changes, config_changes, "BOUND_AT_START", frozenset()),
    (compare_config_changes, config_changes, "parse_value", _ignored),
    (compare_config_changes, config_changes, "Counter", lambda _: {}.setdefault),
    (compare_batches, validation, "_ZSTD_FROM", 6),
    (compare_batches, validation._RecordRules, "fault_of", _ignored),
    (compare_batches, validation, "_check_header", _ignored),
    (compare_batches, validation, "NO_TIMESTAMP", -2),
]


@pytest.mark.parametrize(
    "compare",
    [
        compare_quotas,
        compare_values,
        compare_descriptions,
        compare_config_changes,
        compare_batches,
    ],
)
def test_the_node_keeps_the_rules_in_more_draws(compare):
    for seed in range(50):
        compare(random.Random(f"more {seed}"))


@pytest.mark.parametrize(("compare", "owner", "attribute", "bug"), PLANTED)
def test_a_planted_bug_is_a_difference(monkeypatch, compare, owner, attribute, bug):
    monkeypatch.setattr(owner, attribute, bug)
    with pytest.raises((DifferenceError, TypeError)):
        compare_all(compare)


def test_a_resource_that_is_named_once_is_not_refused(monkeypatch):
    """A survivor of the generated mutants: each change of a configuration was refused."""
    check = config_changes._check
    monkeypatch.setattr(config_changes, "_check", lambda one, node, times: check(one, node, 2))
    with pytest.raises(DifferenceError, match="the resources that a broker decides"):
        compare_all(compare_config_changes)


def test_the_model_of_a_rate_counts_whole_windows():
    one = Rate(2, SECOND, [(0, 4.0)])
    assert one.wait_ms(4.0, 0) == 0
    assert one.wait_ms(2.0, 0) == 1_000
    assert one.wait_ms(2.0, SECOND) == 1_000
    assert one.wait_ms(2.0, 2 * SECOND - 1) == 1
    assert one.wait_ms(2.0, 2 * SECOND) == 0
    assert Rate(2, SECOND, [(0, 4.0), (SECOND, 1.0)]).begins() == [(0, 4.0), (SECOND, 1.0)]


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        ({"user": "u", "client-id": None}, ("u", "c")),
        ({"user": None, "client-id": "c"}, ("u", "c")),
        ({"user": None}, ("u", None)),
        ({"client-id": "c"}, (None, "c")),
    ],
)
def test_the_most_specific_quota_decides_in_the_model(names, shared):
    quotas = [(names, {"k": 4.0}), ({"client-id": None}, {"k": 2.0}), ({"ip": None}, {"k": 8.0})]
    assert bound_of(quotas, "k", "u", "c") == (4.0, shared)
    assert bound_of(quotas, "k", "v", "d") is not None
    assert bound_of(quotas, "other", "u", "c") is None
