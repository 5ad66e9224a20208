"""Draw the answers of controllers to a broker's questions for versions and for producer ids."""

from random import Random

from kraftproof.cluster.simulated.differential.core.versions import OF_CONTROLLERS
from kraftproof.cluster.simulated.differential.door.forward_model import (
    NOT_CONTROLLER,
    UNSUPPORTED_VERSION,
)
from kraftproof.cluster.simulated.differential.door.versions_model import Versions
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_response,
    api_versions_response,
)


def draw_block(random: Random, first: int) -> tuple[range, Message | None]:
    """Return a block of producer ids with the answer; no ids for an error or a lost answer."""
    kind, module = random.random(), allocate_producer_ids_response
    if kind < 0.2:
        return range(0), None
    if kind < 0.4:
        return range(0), module.AllocateProducerIdsResponse(error_code=NOT_CONTROLLER)
    size = random.choice((1, 2, 3, 200))
    answer = module.AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=size)
    return range(first, first + size), answer


def draw_versions(random: Random) -> tuple[Versions | None, Message | None]:
    """Return the versions of a controller with the answer; None for an error or a lost answer."""
    kind, module = random.random(), api_versions_response
    if kind < 0.2:
        return None, None
    versions = {
        key: (least + random.choice((0, 0, 1)), most + random.choice((0, 0, -1)))
        for key, (least, most) in OF_CONTROLLERS.items()
        if random.random() < 0.9
    }
    is_refused = kind < 0.4
    answer = module.ApiVersionsResponse(
        error_code=UNSUPPORTED_VERSION if is_refused else 0,
        api_keys=tuple(
            module.ApiVersion(api_key=key, min_version=least, max_version=most)
            for key, (least, most) in versions.items()
        ),
    )
    return None if is_refused else versions, answer
