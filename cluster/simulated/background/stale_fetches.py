"""Fetches of an earlier process of a broker, which a network delivers late (KIP-903).

Such a Fetch names an older broker epoch. The earlier process may have had records that the present
one has lost, so the leader must not count the Fetch.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.background.partition_clients import Client
from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, SimulatedTask
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import fetch_request

VERSION: Final = 15
"""The first version of Fetch with the broker epoch of the follower."""
SHARE: Final = 0.02
"""Share of the followers' Fetches after which a stale one comes, one at a time."""
LONGEST_DELAY_NS: Final = milliseconds(1_000)


class StaleFetches:
    """Sends a Fetch again as an earlier process of the follower has sent it."""

    def __init__(self, scope: SimulatedScope, random: Random, client: Client) -> None:
        self._scope = scope
        self._random = random
        self._client = client
        self._is_waiting = False
        self._task: SimulatedTask[None] | None = None

    def on_received(self, process: ProcessView, event: Received) -> None:
        """Take a Fetch; called by the monitor."""
        message = event.message
        assert isinstance(message, fetch_request.FetchRequest), "the type of the hook"
        is_follower = event.version >= VERSION and message.replica_state.replica_epoch > 0
        if is_follower and not self._is_waiting and self._random.random() < SHARE:
            self._is_waiting = True
            self._task = self._scope.spawn(self._send(process.node_id, message, event.version))

    async def _send(self, leader: int, message: fetch_request.FetchRequest, version: int) -> None:
        await self._scope.sleep(self._random.randrange(LONGEST_DELAY_NS))
        state = message.replica_state
        earlier = replace(state, replica_epoch=state.replica_epoch - 1)
        await self._client.ask(leader, replace(message, replica_state=earlier), version)
        self._is_waiting = False
