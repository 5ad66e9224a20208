"""Run `kraft-storage version-mapping` and `feature-dependencies` (KIP-1022).

Both print facts of Kafka's releases, whatever this node supports. The table is compared with Kafka
4.3's tool by a test.
"""

import argparse
from collections.abc import Mapping
from typing import Any, Final

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.tools.arguments import print_line
from kraftproof.node.tools.release_versions import RELEASE_VERSIONS

METADATA_VERSION: Final = "metadata.version"
PRODUCTION_LEVEL: Final = 30
"""The newest level of metadata.version for production in Kafka 4.3."""
_SINCE: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "kraft.version": ((21, 1),),
    "transaction.version": ((24, 2),),
    "group.version": ((22, 1),),
    "eligible.leader.replicas.version": ((26, 1),),
    "share.version": ((28, 1),),
    "streams.version": ((29, 1),),
}
"""Each feature in Kafka's order: from a level of metadata.version on, the feature's default."""
_LEVELS: Final[Mapping[str, int]] = {
    "kraft.version": 1,
    "transaction.version": 2,
    "group.version": 1,
    "eligible.leader.replicas.version": 1,
    "share.version": 1,
    "streams.version": 1,
}
"""The newest level of each feature."""
_NEEDED: Final[Mapping[tuple[str, int], tuple[str, int]]] = {
    ("eligible.leader.replicas.version", 1): (METADATA_VERSION, 23),
}
"""The level of another feature that a level needs."""


def add_feature_commands(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add both commands to a parser."""
    mapping = commands.add_parser("version-mapping", help="print the features of a release")
    mapping.add_argument("-r", "--release-version", help="a release of Kafka, such as 3.9-IV0")
    mapping.set_defaults(run=version_mapping)
    needed = commands.add_parser("feature-dependencies", help="print what features need")
    needed.add_argument(
        "-f", "--feature", action="append", required=True, help="a feature=level; may be repeated"
    )
    needed.set_defaults(run=feature_dependencies)


def version_mapping(arguments: argparse.Namespace) -> int:
    """Print the default levels of all features at a level of metadata.version.

    Raises:
        ConfigError: the release is unknown.
    """
    wanted = arguments.release_version
    level = PRODUCTION_LEVEL if wanted is None else _level_of(wanted)
    name = RELEASE_VERSIONS[level] if wanted is None else wanted
    print_line(f"{METADATA_VERSION}={level} ({name})")
    for feature, steps in _SINCE.items():
        default = max((value for since, value in steps if level >= since), default=0)
        print_line(f"{feature}={default}")
    return 0


def _level_of(release: str) -> int:
    """Return the level of a release; a release without its last part is the newest of its levels.

    Raises:
        ConfigError: the release is unknown.
    """
    for level in sorted(RELEASE_VERSIONS, reverse=True):
        name = RELEASE_VERSIONS[level]
        if release in {name, name.partition("-")[0]}:
            return level
    known = ", ".join(RELEASE_VERSIONS.values())
    raise ConfigError(
        f"Unknown {METADATA_VERSION} '{release}'. Supported {METADATA_VERSION} are: {known}"
    )


def feature_dependencies(arguments: argparse.Namespace) -> int:
    """Print the levels of other features that each feature's level needs.

    Raises:
        ConfigError: a feature or a level is unknown.
    """
    for text in arguments.feature:
        name, _, number = text.partition("=")
        if not number.isdecimal():
            raise ConfigError(f"--feature {text}: feature=level is expected")
        level = int(number)
        shown = f"{name}={level}"
        if name == METADATA_VERSION and level in RELEASE_VERSIONS:
            shown = f"{shown} ({RELEASE_VERSIONS[level]})"
        elif name not in {METADATA_VERSION, *_LEVELS}:
            raise ConfigError(f"Unknown feature: {name}")
        elif name == METADATA_VERSION or level > _LEVELS[name]:
            raise ConfigError(f"Unknown feature level {level} of {name}")
        needed = _NEEDED.get((name, level))
        if needed is None:
            print_line(f"{shown} has no dependencies.")
            continue
        other, least = needed
        release = f" ({RELEASE_VERSIONS[least]})" if other == METADATA_VERSION else ""
        print_line(f"{shown} requires:")
        print_line(f"    {other}={least}{release}")
    return 0
