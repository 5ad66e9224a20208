"""Delete the oldest records of a topic, up to offsets within batches.

The log goes on to hold the whole batch, so a look-up or a read may still find a deleted record.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.partition_clients import Client
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import delete_records_request

SHARE: Final = 0.5
"""Share of the topics of dated records with deletions."""
LONGEST_REST_NS: Final = milliseconds(4_000)
"""Longest time between two deletions."""
MOST_RECORDS: Final = 9
"""Largest step from an asked offset to the next one."""
TIMEOUT_MS: Final = 1_000
VERSION: Final = 2


class Deletions:
    """A client that deletes records until the final phase."""

    def __init__(
        self,
        scope: SimulatedScope,
        world: World,
        random: Random,
        client: Client,
        brokers: Sequence[int],
    ) -> None:
        self._scope = scope
        self._world = world
        self._random = random
        self._client = client
        self._brokers = brokers

    async def delete(self, topic: str, partitions: int) -> None:
        """Delete records of random partitions of a topic, each time a few more."""
        random, offsets = self._random, [0] * partitions
        while not self._world.is_in_final_phase:
            await self._scope.sleep(random.randrange(LONGEST_REST_NS))
            index = random.randrange(partitions)
            offsets[index] += random.randint(1, MOST_RECORDS)
            part = delete_records_request.DeleteRecordsPartition(
                partition_index=index, offset=offsets[index]
            )
            asked = delete_records_request.DeleteRecordsTopic(name=topic, partitions=(part,))
            request = delete_records_request.DeleteRecordsRequest(
                topics=(asked,), timeout_ms=TIMEOUT_MS
            )
            await self._client.ask(random.choice(self._brokers), request, VERSION)
