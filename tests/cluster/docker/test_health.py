"""Health checks of containers: what a check lacks, and a container without one."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from kraftproof.cluster.docker.engine import connect_engine
from kraftproof.cluster.docker.machines import Machines
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.start_order import StartOrder
from kraftproof.cluster.systems.deployment import Dependency
from kraftproof.images.base import ensure_base
from kraftproof.images.context import connect

pytestmark = pytest.mark.docker
SECOND_NS = 1_000_000_000
CHECKS: list[list[str] | None] = [
    ["CMD-SHELL", "echo starting; echo connection refused; exit 3"],
    ["CMD", "/no/such/program"],
    ["CMD", "true"],
    None,
]


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    """Containers with the checks, as nodes 1, 2 and so on."""
    client = connect_engine()
    made = Machines("no-run", range(1, len(CHECKS) + 1))
    made._client = client
    image = ensure_base(connect(None), lambda _: None)
    for number, test in enumerate(CHECKS, start=1):
        check = None if test is None else {"test": test, "interval": SECOND_NS // 5}
        labels = {"kraftproof": "test-of-health"}
        container = client.containers.run(
            image, "sleep 600", detach=True, labels=labels, healthcheck=check
        )
        made._containers[number] = str(container.id)
    yield made
    for container_id in made._containers.values():
        client.api.remove_container(container_id, force=True)
    client.close()


class Checked(Host):
    """The container of a node."""

    def __init__(self, machines: Machines, node_id: int) -> None:
        self.machines, self.node_id = machines, node_id

    async def health_lack(self) -> str | None:
        return self.machines.health_lack(self.node_id)

    async def has_health_check(self) -> bool:
        return self.machines.has_health_check(self.node_id)


def lack(machines: Machines, node_id: int) -> str | None:
    """Return what a check lacks once it has ended for the first time."""
    deadline = time.monotonic() + 30
    while machines.health_lack(node_id) == "its health check has not ended yet":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return machines.health_lack(node_id)


def test_a_check_that_fails_is_told_with_its_status_and_output(machines: Machines) -> None:
    said = "its health check ended with status 3: starting / connection refused"
    assert lack(machines, 1) == said
    assert "its health check ended with status " in str(lack(machines, 2))
    assert "/no/such/program" in str(lack(machines, 2))
    assert lack(machines, 3) is None
    assert machines.health_lack(4) is None


@pytest.mark.parametrize(
    ("node_id", "said"),
    [
        (1, "node 9 waits for node 1, which is not healthy after 0 s: its health check ended "),
        (4, "node 9 waits until node 4 is healthy, but node 4 has no health check"),
    ],
)
def test_who_waits_for_a_check_is_told_of_it(machines: Machines, node_id: int, said: str) -> None:
    async def wait() -> None:
        order = StartOrder(LiveScope(), SECOND_NS // 10, lambda _: None)
        order.started.add(node_id)
        after = [Dependency(node_id=node_id, is_healthy=True)]
        await order.wait(9, after, {node_id: Checked(machines, node_id)})

    lack(machines, node_id)
    with pytest.raises(ClusterError) as failed:
        asyncio.run(wait())
    assert str(failed.value).startswith(said)
