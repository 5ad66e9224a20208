"""Quotas of time and of connections at a live node: answers, pauses and ended connections."""

import socket
import time
from typing import TYPE_CHECKING

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    alter_client_quotas_response,
    metadata_request,
    metadata_response,
)
from tests.node.server.conftest import live as live_nodes
from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.node.server.conftest import LiveCluster

live = live_nodes
Alter = alter_client_quotas_request
CONNECTIONS = 14
TIMEOUT_S = 10


def quota(kind: str, name: str | None, key: str, value: float) -> Message:
    entry = Alter.EntryData(
        entity=(Alter.EntityData(entity_type=kind, entity_name=name),),
        ops=(Alter.OpData(key=key, value=value, remove=False),),
    )
    return Alter.AlterClientQuotasRequest(entries=(entry,), validate_only=False)


def set_quota(client: Client, message: Message) -> None:
    answer = client.ask(message)
    assert isinstance(answer, alter_client_quotas_response.AlterClientQuotasResponse)
    assert [entry.error_code for entry in answer.entries] == [0]


def address(cluster: "LiveCluster") -> Address:
    return Address("127.0.0.1", cluster.nodes[0].port)


def throttle_of(client: Client) -> int:
    answer = client.ask(metadata_request.MetadataRequest(topics=None))
    assert isinstance(answer, metadata_response.MetadataResponse)
    return answer.throttle_time_ms


def is_served(connected: socket.socket) -> bool:
    """Ask for versions (ApiVersions 0), and return whether an answer comes."""
    try:
        connected.sendall(bytes.fromhex("0000000a00120000 00000001 ffff"))
        return connected.recv(4) != b""
    except ConnectionError:
        return False


def test_a_client_above_its_share_of_a_thread_is_slowed(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(1, 0)
    with Client(address(cluster), TIMEOUT_S) as client:
        assert throttle_of(client) == 0
        set_quota(client, quota("user", "ANONYMOUS", "request_percentage", 0.001))
        assert eventually(lambda: throttle_of(client) > 0)
        begun = time.monotonic()
        first = throttle_of(client)
        throttle_of(client)
        waited_ms = (time.monotonic() - begun) * 1000
        assert 0 < first <= 1000
        assert waited_ms >= first * 0.9


def test_connections_above_the_rate_of_their_address_are_ended_unread(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(1, 0)
    place = ("127.0.0.1", cluster.nodes[0].port)
    with Client(address(cluster), TIMEOUT_S) as client:
        set_quota(client, quota("ip", None, "connection_creation_rate", 1))
        assert eventually(lambda: not all(_outcomes(place)))
        begun = time.monotonic()
        assert not all(_outcomes(place))
        assert time.monotonic() - begun < 30
        assert throttle_of(client) == 0  # the open connection is served
        set_quota(client, quota("ip", "127.0.0.1", "connection_creation_rate", 1_000_000))
        assert eventually(lambda: all(_outcomes(place)), seconds=20)


def _outcomes(place: tuple[str, int]) -> list[bool]:
    """Open some connections at once, and return which are served."""
    opened = [socket.create_connection(place, timeout=10) for _ in range(CONNECTIONS)]
    try:
        return [is_served(connected) for connected in opened]
    finally:
        for connected in opened:
            connected.close()
