"""Judge UpdateFeatures and ControllerRegistration (KIP-584, KIP-778, KIP-919)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import (
    FeatureLevelRecord,
    RegisterControllerRecord,
    Row,
)
from kraftproof.checkers.kraft.specification.rows.cluster import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    FeatureUpdate,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

METADATA_VERSION: Final = "metadata.version"
LEVEL_OF_CONTROLLERS: Final = 15
UPGRADE: Final = 1


def _codes(image: Image, request: UpdateFeaturesRequest) -> tuple[set[Code], set[Code]]:
    """Return the codes that must refuse the request, and those that may."""
    required: set[Code] = set()
    allowed: set[Code] = set()
    times = Counter(update.feature for update in request.feature_updates)
    for update in request.feature_updates:
        if times[update.feature] > 1:
            required.add(Code.INVALID_REQUEST)
        if _is_impossible(image, update):
            required.add(Code.INVALID_UPDATE_VERSION)
        elif update.feature not in image.features:
            allowed.add(Code.INVALID_UPDATE_VERSION)  # the controller may not know the feature
        elif update.max_version_level not in {0, image.features[update.feature]}:
            allowed.add(Code.INVALID_UPDATE_VERSION)  # the nodes may not support the level
    return required, allowed


def _is_impossible(image: Image, update: FeatureUpdate) -> bool:
    level, present = update.max_version_level, image.features.get(update.feature, 0)
    kind = update.upgrade_type
    if kind == UPGRADE and update.allow_downgrade:
        kind = 2
    if kind not in {1, 2, 3} or level < 0:
        return True
    if update.feature == METADATA_VERSION and not level:
        return True
    return (level < present and kind == UPGRADE) or (level > present and kind != UPGRADE)


def _wanted(image: Image, request: UpdateFeaturesRequest) -> list[FeatureLevelRecord]:
    """Return the records of the levels that differ from the present ones."""
    return [
        FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level)
        for update in request.feature_updates
        if update.max_version_level != image.features.get(update.feature, 0)
    ]


def wrong_features(
    image: Image, request: UpdateFeaturesRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of UpdateFeatures, or None."""
    wanted = _wanted(image, request)
    required, allowed = _codes(image, request)
    if not written:
        is_open = not wanted or required or allowed or request.validate_only
        return None if is_open else f"{wanted} was not written"
    if required or request.validate_only:
        return "a request that is refused or only validates has changed features"
    return None if list(written) == wanted else f"{list(written)} was written, not {wanted}"


def wrong_features_answer(
    image: Image,
    request: UpdateFeaturesRequest,
    written: Sequence[Row],
    answer: UpdateFeaturesResponse,
) -> str | None:
    """Return why an answer to UpdateFeatures is wrong, or None."""
    required, allowed = _codes(image, request)
    code = answer.error_code
    if code == Code.NONE:
        if required:
            return f"NONE in spite of {sorted(required)}"
        is_done = written or request.validate_only or not allowed or not _wanted(image, request)
        return None if is_done else "the update is acknowledged, but was not written"
    if written:
        return f"{code_name(code)}, but the levels were written"
    return None if code in required | allowed else f"{code_name(code)} without this cause"


def _controller_codes(image: Image, request: ControllerRegistrationRequest) -> set[Code]:
    codes: set[Code] = set()
    supported = {one.name: one for one in request.features}
    for name, level in image.features.items():
        one = supported.get(name)
        if one is None or not one.min_supported_version <= level <= one.max_supported_version:
            codes.add(Code.UNSUPPORTED_VERSION)
    if image.features.get(METADATA_VERSION, 0) < LEVEL_OF_CONTROLLERS:
        codes.add(Code.UNSUPPORTED_VERSION)
    if request.controller_id < 0:
        codes.add(Code.INVALID_REQUEST)
    if not request.listeners:
        codes.add(Code.INVALID_REGISTRATION)
    return codes


def wrong_controller(
    image: Image, request: ControllerRegistrationRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of ControllerRegistration, or None."""
    codes = _controller_codes(image, request)
    if codes or not written:
        is_right = bool(codes) and not written
        return None if is_right else f"controller {request.controller_id}: {list(written)}"
    (record, *more) = written
    if more or not isinstance(record, RegisterControllerRecord):
        return f"a registration of a controller has written {list(written)}"
    right = [(one.name, one.host, one.port) for one in request.listeners]
    if record.controller_id != request.controller_id or right != [
        (one.name, one.host, one.port) for one in record.end_points
    ]:
        return f"controller {request.controller_id} is registered as {record}"
    levels = [(one.name, one.max_supported_version) for one in request.features]
    if levels != [(one.name, one.max_supported_version) for one in record.features]:
        return f"controller {request.controller_id} is registered with other features"
    return None


def wrong_controller_answer(
    image: Image, request: ControllerRegistrationRequest, answer: ControllerRegistrationResponse
) -> str | None:
    """Return why an answer to ControllerRegistration is wrong, or None."""
    codes = _controller_codes(image, request) or {Code.NONE}
    is_right = answer.error_code in codes
    return None if is_right else f"{code_name(answer.error_code)}, not {sorted(codes)}"
