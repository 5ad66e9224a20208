"""An envelope that never left may be sent again; one that did may have run (KIP-590, 590-05).

The shell's half of forwarding.py: sockets, on loopback.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.events import Answered, Event, Unanswered
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS
from tests.node.server.lanes import SECOND, api_versions, lane_to, lanes_to


class Controller:
    """A listener that takes requests and never answers."""

    def __init__(self) -> None:
        self.heard = 0
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        while await reader.read(1000):
            self.heard += 1
        writer.close()

    async def die(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(4000):
        if holds():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it never came to hold")


def run(scenario: Callable[[Controller], Awaitable[None]]) -> None:
    async def bounded() -> None:
        controller = Controller()
        await controller.open()
        await asyncio.wait_for(scenario(controller), 10)
        await controller.die()

    asyncio.run(bounded())


@pytest.mark.requirement("590-05")
def test_what_never_left_is_told_apart_from_what_was_lost() -> None:
    async def scenario(controller: Controller) -> None:
        lane = lane_to(controller.port)
        outcomes: list[str] = []

        def request() -> None:
            lane.request(
                api_versions(),
                lambda message: outcomes.append("lost" if message is None else "answered"),
                lambda: outcomes.append("unsent"),
            )

        request()  # leaves as soon as the connection stands
        await until(lambda: controller.heard == 1)
        request()  # leaves at once
        await controller.die()
        await until(lambda: len(outcomes) == 2)
        request()  # refused
        await until(lambda: len(outcomes) == 3)
        request()
        lane.drop()  # given up while it connects
        assert outcomes == ["lost", "lost", "unsent", "unsent"]

    run(scenario)


@pytest.mark.requirement("590-05")
def test_envelope_to_a_dead_controller_may_be_sent_elsewhere_unless_it_had_left() -> None:
    async def scenario(controller: Controller) -> None:
        events: list[Event] = []
        peers = lanes_to(controller.port, events.append)
        effect = Forward(
            destination=NodeId(1),
            correlation=1,
            message=CreateTopicsRequest(),
            version=7,
            principal=ANONYMOUS,
            client_host="127.0.0.1",
            timeout_ns=5 * SECOND,
            connect_ns=5 * SECOND,
        )
        peers.forward(effect)
        await until(lambda: controller.heard == 1)
        await controller.die()
        await until(lambda: len(events) == 1)
        peers.forward(effect)
        await until(lambda: len(events) == 2)
        refusal = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
        assert events == [Unanswered(correlation=1), Answered(correlation=1, message=refusal)]
        peers.close()

    run(scenario)
