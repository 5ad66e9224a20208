"""Choose the levels of features at the formatting of a cluster, by the rules of Kafka (KIP-1022).

The table holds facts of Kafka 4.3 and its features, whatever this node supports. The tests compare
the table with Kafka's tool.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from kraftproof.node.core.metadata.version import (
    LARGEST_LEVEL,
    METADATA_VERSION,
    METADATA_VERSION_LEVEL,
)
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.tools.release_versions import RELEASE_VERSIONS

KRAFT_VERSION: Final = "kraft.version"
PRODUCTION_LEVEL: Final = LARGEST_LEVEL
"""The newest level of metadata.version for production in Kafka 4.3."""
DEFAULTS: Final[Mapping[str, tuple[int, int]]] = {
    KRAFT_VERSION: (21, 1),
    "transaction.version": (24, 2),
    "group.version": (22, 1),
    "eligible.leader.replicas.version": (26, 1),
    "share.version": (28, 1),
    "streams.version": (29, 1),
}
"""Each feature in Kafka's order: from a level of metadata.version on, the feature's default level.
The default level is also the newest level of the feature."""
NEEDED: Final[Mapping[tuple[str, int], tuple[str, int]]] = {
    ("eligible.leader.replicas.version", 1): (METADATA_VERSION, 23),
}
"""The level of another feature that a level needs."""


def default_level(feature: str, metadata_level: int) -> int:
    """Return the default level of a feature at a level of metadata.version."""
    since, level = DEFAULTS[feature]
    return level if metadata_level >= since else 0


def level_of_release(release: str, largest: int = max(RELEASE_VERSIONS)) -> int:
    """Return the level of a release; a release without its last part is the newest of its levels.

    Raises:
        ConfigError: the release is unknown, or its level is above `largest`.
    """
    # Kafka leaves out the number of a patch: 3.7.1 is 3.7.
    wanted = ".".join(release.split(".")[:2])
    levels = [level for level in RELEASE_VERSIONS if level <= largest]
    for level in sorted(levels, reverse=True):
        name = RELEASE_VERSIONS[level]
        if wanted in {name, name.partition("-")[0]}:
            return level
    known = ", ".join(RELEASE_VERSIONS[level] for level in levels)
    raise ConfigError(
        f"Unknown {METADATA_VERSION} '{release}'. Supported {METADATA_VERSION} are: {known}"
    )


def first_levels(
    release: str | None, features: Sequence[str], *, is_dynamic: bool
) -> Mapping[str, int]:
    """Return the level of each feature of a new cluster, by the options of the format command.

    `is_dynamic` says that the quorum is formatted for changes of its voters (KIP-853).

    Raises:
        ConfigError: an option is malformed, a level is unknown, or levels contradict each other.
    """
    given = dict([_parse_feature(text) for text in features])
    level = _metadata_level(release, given.pop(METADATA_VERSION, None))
    for name in given:
        if name not in DEFAULTS:
            known = ", ".join(sorted(DEFAULTS))
            raise ConfigError(f"Unsupported feature: {name}. Supported features are: {known}")
    kraft = given.get(KRAFT_VERSION, int(is_dynamic))
    _check_kraft_version(kraft, is_dynamic=is_dynamic)
    levels = {name: given.get(name, default_level(name, level)) for name in sorted(DEFAULTS)}
    levels = {METADATA_VERSION: level, **levels, KRAFT_VERSION: kraft}
    for name in DEFAULTS:
        if levels[name] > DEFAULTS[name][1]:
            raise ConfigError(f"No feature:{name} with feature level {levels[name]}")
        other, least = NEEDED.get((name, levels[name]), (METADATA_VERSION, 0))
        if levels[other] < least:
            raise ConfigError(
                f"{name} could not be set to {levels[name]} because it depends on"
                f" {other} level {least}"
            )
    return levels


def _metadata_level(release: str | None, given: int | None) -> int:
    if release is not None:
        level = level_of_release(release, PRODUCTION_LEVEL)
        if given is not None:
            raise ConfigError(
                f"Use --release-version instead of --feature {METADATA_VERSION}=X to avoid"
                " ambiguity."
            )
        return level
    if given is None:
        return METADATA_VERSION_LEVEL
    if given not in RELEASE_VERSIONS:
        raise ConfigError(
            f"No MetadataVersion with feature level {given}. Valid feature levels are from"
            f" {min(RELEASE_VERSIONS)} to {max(RELEASE_VERSIONS)}."
        )
    if given > PRODUCTION_LEVEL:
        raise ConfigError(f"{METADATA_VERSION} {RELEASE_VERSIONS[given]} is not yet stable.")
    return given


def _parse_feature(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not equals:
        raise ConfigError(f"Can't parse feature=level string {text}: equals sign not found.")
    if not number.strip().isdecimal() or int(number) > 0x7FFF:
        raise ConfigError(
            f"Can't parse feature=level string {text}: unable to parse {number.strip()} as a short."
        )
    return name.strip(), int(number)


def _check_kraft_version(level: int, *, is_dynamic: bool) -> None:
    flags = "--standalone, --initial-controllers, or --no-initial-controllers"
    if level == 0 and is_dynamic:
        raise ConfigError(
            f"Cannot set {KRAFT_VERSION} to 0 if controller.quorum.voters is empty and one of the"
            f" flags {flags} is used. For dynamic controllers support, try removing the --feature"
            f" flag for {KRAFT_VERSION}."
        )
    if level > 0 and not is_dynamic:
        raise ConfigError(
            f"Cannot set {KRAFT_VERSION} to {level} unless controller.quorum.voters is empty and"
            f" one of the flags {flags} is used. For dynamic controllers support, try using one of"
            f" {flags} and removing controller.quorum.voters."
        )
