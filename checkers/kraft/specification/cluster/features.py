"""Judge UpdateFeatures and ControllerRegistration (KIP-584, KIP-778, KIP-919)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.facts import Facts
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
UPGRADE, SAFE = 1, 2
CHANGED: Final = (7, 8, 11, 13, 14, 15, 17, 23, 30)
"""The levels of metadata.version from 3.3-IV3 to 4.3-IV0 with new records or fields of records."""


def _codes(
    image: Image, facts: Facts, request: UpdateFeaturesRequest
) -> tuple[set[Code], set[Code]]:
    """Return the codes that must refuse the request, and those that may."""
    found = _codes_of_updates(image, facts, request)
    required = {code for codes, _ in found for code in codes}
    return required, {code for _, codes in found for code in codes}


def _codes_of_updates(
    image: Image, facts: Facts, request: UpdateFeaturesRequest
) -> list[tuple[set[Code], set[Code]]]:
    """Return the codes that must and that may refuse each update."""
    times = Counter(update.feature for update in request.feature_updates)
    found: list[tuple[set[Code], set[Code]]] = []
    for update in request.feature_updates:
        required: set[Code] = set()
        allowed: set[Code] = set()
        if times[update.feature] > 1:
            required.add(Code.INVALID_REQUEST)
        unregistered = _unregistered(image, facts)
        is_unsupported = len(unregistered) > 1 or not _is_supported(image, facts, update)
        if _is_impossible(image, update) or is_unsupported:
            required.add(Code.INVALID_UPDATE_VERSION)
        elif unregistered or facts.feature_levels is None or _may_lose_metadata(image, update):
            allowed.add(Code.INVALID_UPDATE_VERSION)
        found.append((required, allowed))
    return found


def _is_impossible(image: Image, update: FeatureUpdate) -> bool:
    level, present = update.max_version_level, image.features.get(update.feature, 0)
    kind = update.upgrade_type
    if kind == UPGRADE and update.allow_downgrade:
        kind = 2
    if kind not in {1, 2, 3} or level < 0:
        return True
    if update.feature == METADATA_VERSION and not level:
        return True
    if (level < present and kind == UPGRADE) or (level > present and kind != UPGRADE):
        return True
    is_downgrade = update.feature == METADATA_VERSION and level < present
    return is_downgrade and kind == SAFE and any(level < each <= present for each in CHANGED)


def _may_lose_metadata(image: Image, update: FeatureUpdate) -> bool:
    """Return whether the update is an unsafe downgrade, which a controller need not support."""
    level, present = update.max_version_level, image.features.get(update.feature, 0)
    is_downgrade = update.feature == METADATA_VERSION and level < present
    return is_downgrade and any(level < each <= present for each in CHANGED)


def _is_supported(image: Image, facts: Facts, update: FeatureUpdate) -> bool:
    """Return whether each node supports the level; level 0 of other features is no level."""
    name, level = update.feature, update.max_version_level
    nodes = [broker.levels for broker in image.brokers.values()]
    nodes += list(image.controllers.values())
    if facts.feature_levels is not None:
        nodes.append(facts.feature_levels)
        if name not in facts.feature_levels and name not in image.features:
            return False
    for levels in nodes:
        least, most = levels.get(name, (0, 0))
        if not (least if name == METADATA_VERSION else 0) <= level <= most:
            return False
    return True


def _unregistered(image: Image, facts: Facts) -> frozenset[int]:
    """Return the voters that have not registered; the active controller need not have."""
    if facts.voters is None or image.features.get(METADATA_VERSION, 0) < LEVEL_OF_CONTROLLERS:
        return frozenset()
    return facts.voters.difference(image.controllers)


def _wanted(image: Image, request: UpdateFeaturesRequest) -> list[FeatureLevelRecord]:
    """Return the records of the levels that differ from the present ones."""
    return [
        FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level)
        for update in request.feature_updates
        if update.max_version_level != image.features.get(update.feature, 0)
    ]


def wrong_features(
    image: Image, facts: Facts, request: UpdateFeaturesRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of UpdateFeatures, or None."""
    wanted = _wanted(image, request)
    required, allowed = _codes(image, facts, request)
    if not written:
        is_open = not wanted or required or allowed or request.validate_only
        return None if is_open else f"{wanted} was not written"
    if required or request.validate_only:
        return "a request that is refused or only validates has changed features"
    return None if list(written) == wanted else f"{list(written)} was written, not {wanted}"


def wrong_features_answer(
    image: Image,
    facts: Facts,
    request: UpdateFeaturesRequest,
    written: Sequence[Row],
    answer: UpdateFeaturesResponse,
) -> str | None:
    """Return why an answer to UpdateFeatures is wrong, or None."""
    required, allowed = _codes(image, facts, request)
    code = answer.error_code
    wrong = _wrong_results(image, facts, request, answer)
    if wrong is not None:
        return wrong
    if code == Code.NONE:
        if required:
            return f"NONE in spite of {sorted(required)}"
        is_done = written or request.validate_only or not allowed or not _wanted(image, request)
        return None if is_done else "the update is acknowledged, but was not written"
    if written:
        return f"{code_name(code)}, but the levels were written"
    return None if code in required | allowed else f"{code_name(code)} without this cause"


def _wrong_results(
    image: Image, facts: Facts, request: UpdateFeaturesRequest, answer: UpdateFeaturesResponse
) -> str | None:
    """Return why the result of a feature is wrong, or None; an answer may have no results."""
    updates = request.feature_updates
    if not answer.results:
        return None
    if [one.feature for one in answer.results] != [one.feature for one in updates]:
        return f"the results are of {[one.feature for one in answer.results]}"
    causes = _codes_of_updates(image, facts, request)
    for result, (required, allowed) in zip(answer.results, causes, strict=True):
        right = (required | allowed) if required else (allowed | {Code.NONE})
        if result.error_code not in right:
            return f"{result.feature}: {code_name(result.error_code)}, not {sorted(right)}"
    return None


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
