"""UpdateFeatures: refusal by refusal, at metadata.version 21 (3.9-IV0). No tests here."""

from typing import Final

from kraftproof.node.wire.messages import update_features_request
from kraftproof.node.wire.schema import Message
from tests.kafka.differential.brokers import KRAFT, Feature, register, unregister
from tests.kafka.differential.case import CONTROLLER, Case, Context

UpdateFeaturesRequest = update_features_request.UpdateFeaturesRequest
WORDS: Final = frozenset({"error_message"})
VERSION: Final = "metadata.version"
SAFE, UNSAFE = 2, 3
"""The kinds of a downgrade."""
ONLY_VALIDATED: Final = (1, 2)
"""Version 0 can't ask for a validation only, so it is for refused requests."""
OLD_BROKER: Final = 7
OF_OLD_BROKER: Final = 25
"""The largest level of the broker that does not support the newest one."""


def features(
    name: str, *updates: tuple[str, int, int], versions: tuple[int, ...] = (0, 1, 2)
) -> Case:
    """Return the case of feature, level and kind; version 0 has a flag in place of the kind."""

    def make(context: Context) -> Message:
        asked = tuple(
            update_features_request.FeatureUpdateKey(
                feature=feature,
                max_version_level=level,
                allow_downgrade=kind != 1 and context.version == 0,
                upgrade_type=kind if context.version else 1,
            )
            for feature, level, kind in updates
        )
        return UpdateFeaturesRequest(feature_updates=asked, validate_only=context.version > 0)

    return Case(
        name=f"features: {name}", message=make, versions=versions, drawn=WORDS, to=CONTROLLER
    )


def validated(name: str, *updates: tuple[str, int, int]) -> Case:
    """Return a case that may be accepted."""
    return features(name, *updates, versions=ONLY_VALIDATED)


FEATURES: Final = (
    features("an unknown feature", ("no.such.feature", 1, 1)),
    validated("no level of an unknown feature", ("no.such.feature", 0, SAFE)),
    features("a negative level", (VERSION, -1, 1)),
    features("a downgrade without its kind", (VERSION, 7, 1)),
    validated("no kind", (VERSION, 21, 0)),
    validated("an unknown kind", (VERSION, 21, 4)),
    validated("the present level", (VERSION, 21, 1)),
    validated("the present level as a downgrade", (VERSION, 21, SAFE)),
    validated("an upgrade", (VERSION, 22, 1)),
    validated("the newest level", (VERSION, 30, 1)),
    features("a level above the newest", (VERSION, 99, 1)),
    features("a level below the least", (VERSION, 6, SAFE)),
    validated("no metadata.version", (VERSION, 0, UNSAFE)),
    validated("a downgrade to a newer level", (VERSION, 22, SAFE)),
    validated("an unsafe downgrade to a newer level", (VERSION, 22, UNSAFE)),
    validated("a downgrade without a loss", (VERSION, 20, SAFE)),
    validated("an unsafe downgrade without a loss", (VERSION, 20, UNSAFE)),
    features("a downgrade with a loss", (VERSION, 16, SAFE)),
    validated("an unsafe downgrade with a loss", (VERSION, 16, UNSAFE)),
    validated("a feature twice", (VERSION, 22, 1), (VERSION, 22, 1)),
    features("one of two", (VERSION, 22, 1), ("no.such.feature", 1, 1)),
    validated("nothing"),
    register("an old broker", OLD_BROKER, features=(
        Feature(name=VERSION, min_supported_version=7, max_supported_version=OF_OLD_BROKER), KRAFT,
    )),
    validated("the newest level of an old broker", (VERSION, OF_OLD_BROKER, 1)),
    features("a level above that of a broker", (VERSION, OF_OLD_BROKER + 1, 1)),
    unregister("the old broker", OLD_BROKER, to=CONTROLLER),
)  # fmt: skip
"""Ends without the old broker."""

FEATURES_OF_KAFKA: Final = (
    validated("of Kafka: kraft.version", ("kraft.version", 1, 1)),
    validated("of Kafka: group.version", ("group.version", 1, 1)),
    validated("of Kafka: transaction.version", ("transaction.version", 2, 1)),
    validated("of Kafka: eligible.leader.replicas.version", (
        "eligible.leader.replicas.version", 1, 1,
    )),
)  # fmt: skip
