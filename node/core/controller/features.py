"""Decide UpdateFeatures: the finalized levels of the cluster's features (KIP-584, KIP-778).

The request is carried out as a whole or not at all. A level must be supported by this controller,
by every registered controller and by every registered broker, and every voter must be registered
where the cluster registers controllers (KIP-919). A downgrade of metadata.version must
lose no metadata, so no level with new records may lie above the new level. Level 0 removes another
feature.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import (
    CHANGED_METADATA,
    CONTROLLERS_FROM,
    LARGEST_LEVEL,
    LEAST_LEVEL,
    METADATA_VERSION,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import update_features_request, update_features_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

Update = update_features_request.FeatureUpdateKey
Result = update_features_response.UpdatableFeatureResult

SUPPORTED: Final = {METADATA_VERSION: (LEAST_LEVEL, LARGEST_LEVEL)}
"""The levels that this node supports, the least and the largest."""
UPGRADE: Final = 1
_UNSAFE: Final = 3
_DOWNGRADES: Final = frozenset({2, 3})
"""The safe and the unsafe downgrade."""


def update_features(
    image: MetadataImage,
    request: update_features_request.UpdateFeaturesRequest,
    other_voters: Collection[NodeId] = (),
) -> Outcome:
    """Set the levels of features; the first refusal refuses the request."""
    times = Counter(update.feature for update in request.feature_updates)
    results: list[Result] = []
    written: list[Record] = []
    for update in request.feature_updates:
        error, reason = ErrorCode.NONE, _refusal(image, update, other_voters)
        if times[update.feature] > 1:
            error, reason = ErrorCode.INVALID_REQUEST, "the feature is named more than once"
        elif reason is not None:
            error = ErrorCode.INVALID_UPDATE_VERSION
        elif update.max_version_level != image.features.get(update.feature, 0):
            written.append(
                records.FeatureLevelRecord(
                    name=update.feature, feature_level=update.max_version_level
                )
            )
        results.append(Result(feature=update.feature, error_code=error, error_message=reason))
    refused = next((one for one in results if one.error_code != ErrorCode.NONE), None)
    reply = update_features_response.UpdateFeaturesResponse(
        error_code=ErrorCode.NONE if refused is None else refused.error_code,
        error_message=None if refused is None else refused.error_message,
        results=tuple(results),
    )
    is_kept = refused is not None or request.validate_only
    return Outcome(reply=reply, records=() if is_kept else tuple(written))


def _refusal(image: MetadataImage, update: Update, other_voters: Collection[NodeId]) -> str | None:
    """Return why a level can't be set, or None."""
    name, level = update.feature[:200], update.max_version_level
    present = image.features.get(update.feature, 0)
    # Version 0 of the request has a flag in place of the kind of the update.
    kind = 2 if update.allow_downgrade and update.upgrade_type == UPGRADE else update.upgrade_type
    if kind != UPGRADE and kind not in _DOWNGRADES:
        return f"there is no kind {kind} of an update"
    if level < 0:
        return f"{name} can not have the level {level}"
    if update.feature not in SUPPORTED and update.feature not in image.features:
        return f"{name} is no feature that this controller knows"
    for who, (least, most) in _supporters(image, update.feature):
        if not least <= level <= most:
            return f"{who} supports the levels {least} to {most} of {name}, not {level}"
    unregistered = _unregistered(image, other_voters)
    if unregistered is not None:
        return f"controller {unregistered} is not registered, and may not support the level"
    if level < present and kind == UPGRADE:
        return f"{name} has the level {present}; {level} needs the kind of a downgrade"
    if level > present and kind in _DOWNGRADES:
        return f"{name} has the level {present}; {level} is no downgrade"
    if update.feature == METADATA_VERSION and level < present:
        return _refused_downgrade(level, present, kind)
    return None


def _refused_downgrade(level: int, present: int, kind: int) -> str | None:
    """Return why metadata.version can't go back to a level, or None (KIP-778)."""
    changed = sorted(each for each in CHANGED_METADATA if level < each <= present)
    if not changed:
        return None
    if kind == _UNSAFE:
        return "an unsafe downgrade of metadata.version is not supported"
    return (
        f"metadata.version {present} can't go back to {level}, since the levels"
        f" {', '.join(map(str, changed))} have records that would be lost"
    )


def _unregistered(image: MetadataImage, voters: Collection[NodeId]) -> NodeId | None:
    """Return an unregistered voter; None below the level of registrations."""
    if image.features.get(METADATA_VERSION, 0) < CONTROLLERS_FROM:
        return None
    return next((one for one in sorted(voters) if ("controller", one) not in image.others), None)


def _supporters(image: MetadataImage, name: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the supported levels of each node; level 0 alone for an unknown feature."""
    yield "this controller", SUPPORTED.get(name, (0, 0))
    for key in sorted((key for key in image.others if key[0] == "controller"), key=repr):
        controller = image.others[key]
        if isinstance(controller, records.RegisterControllerRecord):
            yield f"controller {controller.controller_id}", _levels(controller.features, name)
    for broker in image.sorted_brokers():
        yield f"broker {broker.broker_id}", _levels(broker.features, name)


def _levels(
    features: tuple[records.BrokerFeature, ...] | tuple[records.ControllerFeature, ...], name: str
) -> tuple[int, int]:
    for feature in features:
        if feature.name == name:
            # A feature may be unset whatever the least supported level is.
            least = feature.min_supported_version if name == METADATA_VERSION else 0
            return least, feature.max_supported_version
    return 0, 0
