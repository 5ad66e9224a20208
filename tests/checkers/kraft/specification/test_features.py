"""UpdateFeatures is judged by the levels that each node supports (KIP-584, KIP-778)."""

import pytest

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.rows import cluster
from kraftproof.checkers.kraft.specification.specification import Specification
from tests.checkers.kraft.specification.cluster import CLUSTER, LEVEL, image, registered

NAME = "metadata.version"
SPECIFICATION = Specification(Facts(cluster_id=CLUSTER, feature_levels={NAME: (7, 30)}))


def levels(least, most, name=NAME):
    return (rows.Feature(name=name, min_supported_version=least, max_supported_version=most),)


WIDE = levels(1, 40)
BEFORE = image(LEVEL, *(registered(one, features=WIDE, epoch=10 + one) for one in (1, 2, 3)))
CONTROLLER = rows.RegisterControllerRecord(controller_id=9, features=levels(21, 25))


def judged(
    level, code, *, kind=1, before=BEFORE, name=NAME, results=None, times=1, judge=SPECIFICATION
):
    update = cluster.FeatureUpdate(feature=name, max_version_level=level, upgrade_type=kind)
    request = cluster.UpdateFeaturesRequest(feature_updates=(update,) * times, validate_only=True)
    if results is None:
        results = (cluster.FeatureResult(feature=name, error_code=code),) * times
    answer = cluster.UpdateFeaturesResponse(error_code=code, results=results)
    return judge.wrong_answer(before, request, (), answer)


@pytest.mark.parametrize(
    ("level", "kind", "code"),
    [
        (21, 1, Code.NONE),
        (22, 1, Code.NONE),
        (30, 1, Code.NONE),
        (31, 1, Code.INVALID_UPDATE_VERSION),
        (20, 1, Code.INVALID_UPDATE_VERSION),
        (20, 2, Code.NONE),
        (18, 2, Code.NONE),
        (16, 2, Code.INVALID_UPDATE_VERSION),
        (22, 2, Code.INVALID_UPDATE_VERSION),
        (21, 0, Code.INVALID_UPDATE_VERSION),
        (0, 2, Code.INVALID_UPDATE_VERSION),
    ],
)
def test_one_code_is_right(level, kind, code):
    other = Code.NONE if code else Code.INVALID_UPDATE_VERSION
    assert judged(level, code, kind=kind) is None
    assert judged(level, other, kind=kind) is not None


def test_each_registered_controller_and_broker_counts():
    before = image(CONTROLLER, before=BEFORE)
    assert judged(25, Code.NONE, before=before) is None
    assert judged(26, Code.NONE, before=before) is not None
    assert judged(26, Code.INVALID_UPDATE_VERSION, before=before) is None
    before = image(registered(2, features=levels(1, 22), epoch=20), before=BEFORE)
    assert judged(23, Code.NONE, before=before) is not None


def test_an_unsafe_downgrade_may_be_refused():
    assert judged(16, Code.NONE, kind=3) is None
    assert judged(16, Code.INVALID_UPDATE_VERSION, kind=3) is None


def test_unknown_and_repeated_features_are_refused():
    assert judged(1, Code.INVALID_UPDATE_VERSION, name="other") is None
    assert judged(1, Code.NONE, name="other") is not None
    assert judged(21, Code.INVALID_REQUEST, times=2) is None
    assert judged(21, Code.NONE, times=2) is not None


def test_the_results_are_those_of_the_features():
    result = cluster.FeatureResult(feature="x", error_code=0)
    assert "the results are of ['x']" in str(judged(21, Code.NONE, results=(result,)))
    wrong = cluster.FeatureResult(feature=NAME, error_code=Code.INVALID_UPDATE_VERSION)
    assert "INVALID_UPDATE_VERSION, not" in str(judged(21, Code.NONE, results=(wrong,)))
    assert judged(21, Code.NONE, results=()) is None


def test_every_voter_but_the_active_controller_has_to_be_registered():
    facts = Facts(cluster_id=CLUSTER, feature_levels={NAME: (7, 30)}, voters=frozenset({8, 9}))
    judge = Specification(facts)
    refused = Code.INVALID_UPDATE_VERSION
    assert judged(21, refused, judge=judge) is None
    assert judged(21, Code.NONE, judge=judge) is not None, "nobody has registered"
    one = image(CONTROLLER, before=BEFORE)
    assert judged(21, refused, before=one, judge=judge) is None, "8 may be a standby"
    assert judged(21, Code.NONE, before=one, judge=judge) is None, "8 may be the active controller"
    other = rows.RegisterControllerRecord(controller_id=8, features=levels(21, 25))
    both = image(CONTROLLER, other, before=BEFORE)
    assert judged(21, refused, before=both, judge=judge) is not None
