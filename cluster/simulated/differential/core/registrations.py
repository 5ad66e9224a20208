"""Draw registrations of brokers: right ones, and some that are wrong in one way.

Also draw levels of features by what the registered brokers support.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.wire.messages import broker_registration_request as module
from kraftproof.node.wire.messages import update_features_request
from kraftproof.node.wire.types import ZERO_UUID, Uuid

FEW_LEVELS_SHARE: Final = 0.25
"""Share of registrations of brokers that do not support each level of metadata.version."""
LIMIT_SHARE: Final = 0.5
"""Share of updates of features to a level that a registered broker just supports or lacks."""
NEAR_SHARE: Final = 0.5
"""Share of updates of features to a level near the present one, which is often possible."""
_UPGRADE, _SAFE_DOWNGRADE = 1, 2
Request = module.BrokerRegistrationRequest
Update = update_features_request.UpdateFeaturesRequest


def registration(
    random: Random, broker: int, cluster_id: str, rack: str | None, directories: tuple[Uuid, ...]
) -> Request:
    """Return the registration of a broker that supports every level of metadata.version."""
    return Request(
        broker_id=broker,
        cluster_id=cluster_id,
        incarnation_id=Uuid(random.randbytes(16)),
        listeners=(_listener("PLAINTEXT"),),
        features=(_levels(1, 30),),
        rack=rack,
        log_dirs=directories,
    )


def at_few_levels(random: Random, right: Request) -> Request:
    """Return the registration, at times of a broker that lacks the newest or the oldest levels."""
    if random.random() >= FEW_LEVELS_SHARE:
        return right
    return replace(right, features=(_levels(random.choice((1, 1, 7, 21)), random.randint(21, 29)),))


def at_a_limit(random: Random, drawn: Update, image: MetadataImage) -> Update:
    """Return an update of features, at times to the last level of a broker or to the next level."""
    levels = [
        entry.max_supported_version for one in image.sorted_brokers() for entry in one.features
    ]
    if not levels or random.random() >= LIMIT_SHARE:
        return drawn
    level = random.choice(levels) + random.choice((0, 1))
    key = update_features_request.FeatureUpdateKey(
        feature=METADATA_VERSION, max_version_level=level
    )
    return replace(drawn, feature_updates=(key,))


def near_the_present(random: Random, drawn: Update, image: MetadataImage) -> Update:
    """Return an update of features, at times to a level near the present one, of the right kind."""
    if random.random() >= NEAR_SHARE:
        return drawn
    step = random.choice((-3, -2, -1, -1, 1, 1, 2))
    key = update_features_request.FeatureUpdateKey(
        feature=METADATA_VERSION,
        max_version_level=max(0, image.features.get(METADATA_VERSION, 0) + step),
        upgrade_type=_UPGRADE if step > 0 else _SAFE_DOWNGRADE,
    )
    return replace(drawn, feature_updates=(key,))


def spoiled(random: Random, right: Request, of_others: Sequence[tuple[Uuid, ...]]) -> Request:
    """Return the registration with one part that may be wrong.

    Args:
        random: The source of the choices.
        right: The registration without a mistake.
        of_others: The log directories of other brokers.
    """
    reserved = Uuid(random.choice((0, 1, 2, 98, 99, 100, 101)).to_bytes(16, "big"))
    own = right.log_dirs
    return random.choice(
        (
            replace(right, log_dirs=(*own, reserved)),
            replace(right, log_dirs=(reserved, *own)),
            replace(right, log_dirs=(reserved,)),
            replace(right, log_dirs=(*own, own[0])),
            replace(right, log_dirs=(*own, random.choice(random.choice(of_others)))),
            replace(right, log_dirs=()),
            replace(right, cluster_id=f"{right.cluster_id}-2"),
            replace(right, incarnation_id=ZERO_UUID),
            replace(right, listeners=()),
            replace(right, listeners=(_listener("PLAINTEXT"), _listener("SECOND"))),
            replace(right, listeners=(_listener("PLAINTEXT"), _listener("PLAINTEXT"))),
            replace(right, features=()),
            replace(right, features=(_levels(*random.choice(((1, 20), (1, 21), (22, 30)))),)),
            replace(right, broker_id=-1),
        )
    )


def _listener(name: str) -> module.Listener:
    return module.Listener(name=name, host="host", port=9092, security_protocol=0)


def _levels(least: int, most: int) -> module.Feature:
    return module.Feature(
        name=METADATA_VERSION, min_supported_version=least, max_supported_version=most
    )
