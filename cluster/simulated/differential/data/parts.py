"""Ask a drawn broker about many partitions at once, and compare each part of each answer."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.data.asking import Asking
from kraftproof.cluster.simulated.differential.data.data_rig import DataRig, config_of
from kraftproof.cluster.simulated.differential.data.deletions import delete_records
from kraftproof.cluster.simulated.differential.data.drawn_broker import DIRECTORIES, DrawnBroker
from kraftproof.cluster.simulated.differential.data.fetches import fetch
from kraftproof.cluster.simulated.differential.data.groups import (
    fetch_offsets,
    find_coordinators,
    join_group,
)
from kraftproof.cluster.simulated.differential.data.look_ups import (
    describe_directories,
    describe_producers,
    epoch_ends,
    list_offsets,
)
from kraftproof.cluster.simulated.differential.data.producer_ids import ProducerIdClients
from kraftproof.cluster.simulated.differential.data.produces import produce

BROKERS, REQUESTS = 6, 40
_OF_PARTITIONS: Final = (
    *(produce,) * 5,
    *(fetch,) * 5,
    *(list_offsets,) * 3,
    *(delete_records,) * 2,
    epoch_ends,
    describe_producers,
    describe_directories,
    find_coordinators,
    find_coordinators,
    fetch_offsets,
    join_group,
)


def compare_parts(random: Random) -> None:
    """Send drawn requests to drawn brokers, and compare each answer with the model.

    Raises:
        DifferenceError: the node has another answer than the model.
    """
    for _ in range(BROKERS):
        broker = DrawnBroker(random)
        creates = random.random() < 0.5
        rig = DataRig(broker.image(), config_of(broker, creates=creates))
        if broker.has_failed:
            rig.fail(DIRECTORIES[1])
        asking = Asking(rig, broker, random)
        producers = ProducerIdClients(asking)
        for _ in range(REQUESTS):
            kind = random.random()
            if kind < 0.12:
                producers.ask()
            elif kind < 0.2:
                producers.control()
            elif kind < 0.23:
                producers.check_request()
            else:
                random.choice(_OF_PARTITIONS)(asking)
            producers.expire()
