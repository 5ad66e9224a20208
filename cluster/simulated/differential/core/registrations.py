"""Draw registrations of brokers: right ones, and some that are wrong in one way."""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from kraftproof.node.wire.messages import broker_registration_request as module
from kraftproof.node.wire.types import ZERO_UUID, Uuid

Request = module.BrokerRegistrationRequest


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
        name="metadata.version", min_supported_version=least, max_supported_version=most
    )
