"""UpdateFeatures and ControllerRegistration: every refusal, and what is written."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    controller_registration_request,
    update_features_request,
)
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import Desk, incarnation_id

Update = update_features_request.FeatureUpdateKey
VERSION = "metadata.version"


def update(*updates: Update, validate_only: bool = False):
    return update_features_request.UpdateFeaturesRequest(
        feature_updates=updates, validate_only=validate_only
    )


def level(name: str, value: int, kind: int = 1, *, allow: bool = False) -> Update:
    return Update(feature=name, max_version_level=value, upgrade_type=kind, allow_downgrade=allow)


@pytest.fixture
def desk() -> Desk:
    """A cluster with another feature, which no node supports any more."""
    desk = Desk.active(brokers=1)
    desk.lose()
    desk.raft.replicate((records.FeatureLevelRecord(name="group.version", feature_level=1),))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    return desk


REFUSED = [
    ("a newer level", [level(VERSION, 22)], ErrorCode.INVALID_UPDATE_VERSION),
    ("an older level", [level(VERSION, 20, 2)], ErrorCode.INVALID_UPDATE_VERSION),
    ("none", [level(VERSION, 0, 3)], ErrorCode.INVALID_UPDATE_VERSION),
    ("negative", [level("group.version", -1, 3)], ErrorCode.INVALID_UPDATE_VERSION),
    ("no downgrade named", [level("group.version", 0)], ErrorCode.INVALID_UPDATE_VERSION),
    ("no downgrade", [level("x", 1, 2)], ErrorCode.INVALID_UPDATE_VERSION),
    ("no kind", [level("x", 0, 4)], ErrorCode.INVALID_UPDATE_VERSION),
    ("unknown", [level("x", 1)], ErrorCode.INVALID_UPDATE_VERSION),
    ("no level of an unknown", [level("x", 0, 2)], ErrorCode.INVALID_UPDATE_VERSION),
    ("twice", [level("x", 0), level("x", 0)], ErrorCode.INVALID_REQUEST),
    (
        "one of two",
        [level("group.version", 0, 2), level(VERSION, 22)],
        ErrorCode.INVALID_UPDATE_VERSION,
    ),
]


@pytest.mark.requirement("631-89")
@pytest.mark.parametrize(
    ("updates", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_the_first_refusal_refuses_the_request(desk: Desk, updates, code: ErrorCode) -> None:
    was = desk.image.digest
    answer = desk.ask(update(*updates))
    assert ErrorCode(answer.error_code) is code
    assert answer.error_message
    assert [one.feature for one in answer.results] == [one.feature for one in updates]
    assert desk.image.digest == was


@pytest.mark.requirement("631-27")
@pytest.mark.requirement("631-89")
@pytest.mark.parametrize(
    "removal",
    [
        level("group.version", 0, 2),
        level("group.version", 0, 3),
        level("group.version", 0, allow=True),
    ],
)
def test_level_0_removes_a_feature(desk: Desk, removal: Update) -> None:
    assert desk.ask(update(removal, validate_only=True)).error_code == ErrorCode.NONE
    assert "group.version" in desk.image.features
    assert desk.ask(update(removal)).error_code == ErrorCode.NONE
    assert dict(desk.image.features) == {VERSION: 21}


@pytest.mark.requirement("631-89")
def test_the_present_level_is_no_change(desk: Desk) -> None:
    was = desk.image.digest
    assert desk.ask(update(level(VERSION, 21))).error_code == ErrorCode.NONE
    assert desk.image.digest == was


@pytest.mark.requirement("631-89")
def test_a_level_that_a_registered_node_lacks_is_refused(desk: Desk) -> None:
    """Level 0 of metadata.version is outside of a broker's range, whoever asks."""
    answer = desk.ask(update(level(VERSION, 21), level("group.version", 1)))
    assert "group.version" in answer.error_message
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION


def registration(*, listeners: bool = True, level: int | None = 21, controller_id: int = 101):
    module = controller_registration_request
    feature = module.Feature(
        name=VERSION, min_supported_version=level or 0, max_supported_version=level or 0
    )
    listener = module.Listener(name="CONTROLLER", host="c", port=9093)
    return module.ControllerRegistrationRequest(
        controller_id=controller_id,
        incarnation_id=incarnation_id(1),
        listeners=(listener,) if listeners else (),
        features=() if level is None else (feature,),
    )


@pytest.mark.requirement("631-30")
def test_a_controller_is_registered_and_stays_after_a_failover() -> None:
    desk = Desk.active()
    assert desk.ask(registration()).error_code == ErrorCode.NONE
    desk.lose()
    desk.win()
    kept = desk.image.others["controller", 101]
    assert [one.host for one in kept.end_points] == ["c"]
    assert [one.max_supported_version for one in kept.features] == [21]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (registration(listeners=False), ErrorCode.INVALID_REGISTRATION),
        (registration(level=20), ErrorCode.UNSUPPORTED_VERSION),
        (registration(level=None), ErrorCode.UNSUPPORTED_VERSION),
        (registration(controller_id=-1), ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_controller_that_does_not_fit_is_refused(request_, code: ErrorCode) -> None:
    desk = Desk.active()
    was = desk.image.digest
    assert desk.ask(request_).error_code == code
    assert desk.image.digest == was


@pytest.mark.requirement("631-89")
def test_every_other_voter_has_to_be_registered() -> None:
    """The levels that an unregistered controller supports are unknown (KIP-919)."""
    desk = Desk.active(voters=(1, 101, 102))
    desk.ask(registration(controller_id=101))
    answer = desk.ask(update(level(VERSION, 21)))
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert answer.error_message.startswith("controller 102 is not registered")
    desk.ask(registration(controller_id=102))
    assert desk.ask(update(level(VERSION, 21))).error_code == ErrorCode.NONE


@pytest.mark.requirement("631-89")
def test_an_early_level_has_no_registered_controllers() -> None:
    bootstrap = (records.FeatureLevelRecord(name=VERSION, feature_level=14),)
    desk = Desk(bootstrap=bootstrap, voters=(1, 101))
    desk.win()
    assert desk.ask(update(level(VERSION, 15))).error_code == ErrorCode.NONE
    answer = desk.ask(update(level(VERSION, 16)))
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
