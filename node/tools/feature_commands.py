"""Run `kraft-storage version-mapping` and `feature-dependencies` (KIP-1022).

Both print facts of Kafka's releases, whatever this node supports.
"""

import argparse
from typing import Any

from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.tools.arguments import print_line
from kraftproof.node.tools.feature_levels import (
    DEFAULTS,
    NEEDED,
    PRODUCTION_LEVEL,
    default_level,
    level_of_release,
)
from kraftproof.node.tools.release_versions import RELEASE_VERSIONS


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
    level = PRODUCTION_LEVEL if wanted is None else level_of_release(wanted)
    name = RELEASE_VERSIONS[level] if wanted is None else wanted
    print_line(f"{METADATA_VERSION}={level} ({name})")
    for feature in DEFAULTS:
        print_line(f"{feature}={default_level(feature, level)}")
    return 0


def feature_dependencies(arguments: argparse.Namespace) -> int:
    """Print the levels of other features that each feature's level needs.

    Raises:
        ConfigError: a feature or a level is unknown.
    """
    for text in arguments.feature:
        name, _, number = text.partition("=")
        if "=" not in text:
            raise ConfigError(
                f"Invalid feature format: {text}. Expected format: 'feature=version'"
                " (e.g. 'group.version=1')"
            )
        if not number.isdecimal():
            raise ConfigError(f"Invalid version format: {number} for feature {name}")
        level = int(number)
        shown = f"{name}={level}"
        if name == METADATA_VERSION and level in RELEASE_VERSIONS:
            shown = f"{shown} ({RELEASE_VERSIONS[level]})"
        elif name == METADATA_VERSION:
            raise ConfigError(f"Unknown {METADATA_VERSION} {level}")
        elif name not in DEFAULTS:
            raise ConfigError(f"Unknown feature: {name}")
        elif level > DEFAULTS[name][1]:
            raise ConfigError(f"Feature level {level} is not supported for feature {name}")
        needed = NEEDED.get((name, level))
        if needed is None:
            print_line(f"{shown} has no dependencies.")
            continue
        other, least = needed
        release = f" ({RELEASE_VERSIONS[least]})" if other == METADATA_VERSION else ""
        print_line(f"{shown} requires:")
        print_line(f"    {other}={least}{release}")
    return 0
