"""Byte streams reach the node's own connection code, and what is wrong there is found."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import random_requests
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.cluster.systems.reference.requests.case import Case, Expects, Send
from kraftproof.cluster.systems.reference.requests.drawing import draw_case, draw_flood
from kraftproof.cluster.systems.reference.requests.player import play
from kraftproof.node.server import connection, requests
from kraftproof.node.server.connection import Connection
from kraftproof.node.wire.frames import FrameSplitter
from tests.cluster.systems.reference.requests.test_answers import create, send

pytestmark = pytest.mark.simulation

SECOND_NS = 1_000_000_000
NODES = nodes_of(controller=3, broker=2)
BROKER = 4


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A quiet cluster: the test sends the only requests."""
    monkeypatch.setattr(random_requests, "SHARE", 0.0)
    return SimulatedCluster(ClusterOptions(nodes=NODES, seed=5, directory=tmp_path))


def played(cluster: SimulatedCluster, *cases: Case) -> list[str]:
    words = random_requests.vocabulary_of(cluster.world.cluster_id, NODES)

    async def main() -> list[str]:
        await cluster.start()
        return [
            problem.reason
            for case in cases
            for problem in await play(case, cluster, cluster.scope, words)
        ]

    return cluster.run(main())


def pipelined(count: int = 3, **fields) -> Case:
    sends = tuple(send(create(f"__fuzz-{i}"), i * 7, **fields) for i in range(count))
    return Case(nodes=(BROKER,), sends=sends)


def test_requests_are_answered_whole_cut_and_pipelined(cluster) -> None:
    assert played(cluster, pipelined(), pipelined(cuts=(1, 3, 4, 5, 9)), pipelined(20)) == []


def test_a_hundred_random_cases_find_nothing_in_the_node_as_it_is(cluster) -> None:
    words = random_requests.vocabulary_of(cluster.world.cluster_id, NODES)
    random = Random(1)
    cases = [draw_case(NODES, words, random_requests.SHAPE, random) for _ in range(100)]
    assert played(cluster, *cases) == []
    assert not cluster.violations


def test_an_incomplete_frame_waits_for_its_rest(cluster) -> None:
    whole = send(create("__fuzz-1"), 1)
    half = Send(connection=0, frame=whole.frame[:9], expects=Expects.NOTHING, about="half")
    assert played(cluster, Case(nodes=(BROKER,), sends=(whole, half))) == []


def swapped(connection: Connection) -> None:
    slots = connection._slots
    if len(slots) > 1 and slots[0].answer is not None and slots[1].answer is not None:
        slots[0].answer, slots[1].answer = slots[1].answer, slots[0].answer


@pytest.mark.parametrize("fault", ["swap", "lose", "twice", "other id", "stall"])
def test_faults_of_the_connection_code_are_found(cluster, monkeypatch, fault: str) -> None:
    honest, splitting = Connection.send_ready, FrameSplitter.feed

    def send_ready(connection: Connection) -> None:
        if fault == "swap":
            if not all(slot.answer is not None for slot in connection._slots):
                return
            swapped(connection)
        elif fault == "lose" and len(connection._slots) > 1:
            connection._slots.popleft()
        elif fault == "twice" and connection._slots[0].answer is not None:
            connection._transport.writelines([connection._slots[0].answer])
        honest(connection)

    if fault == "other id":
        head = requests.encode_response_header
        monkeypatch.setattr(
            requests, "encode_response_header", lambda one, version: head(one + 1, version)
        )
    elif fault == "stall":
        monkeypatch.setattr(
            FrameSplitter, "feed", lambda splitter, data: splitting(splitter, data)[:1]
        )
    else:
        monkeypatch.setattr(Connection, "send_ready", send_ready)
    [problem] = played(cluster, pipelined())
    wanted = {
        "lose": ("correlation id", "no answer"),
        "stall": ("no answer",),
        "twice": ("correlation id", "nobody asked"),
    }
    assert any(words in problem for words in wanted.get(fault, ("correlation id",)))


def test_a_share_of_the_runs_sends_them_and_reports_a_problem(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(random_requests, "SHARE", 1.0)
    monkeypatch.setattr(FrameSplitter, "feed", lambda _splitter, _data: [])
    cluster = SimulatedCluster(ClusterOptions(nodes=NODES, seed=6, directory=tmp_path))

    async def main() -> None:
        await cluster.start()
        await cluster.scope.sleep(60 * SECOND_NS)

    with pytest.raises(InvariantViolatedError):
        cluster.run(main())
    assert cluster.violations[0].invariant == random_requests.INVARIANT


def test_a_node_that_dies_excuses_its_answers(cluster) -> None:
    words = random_requests.vocabulary_of(cluster.world.cluster_id, NODES)

    async def main() -> list[str]:
        await cluster.start()
        task = cluster.scope.spawn(play(pipelined(after_ms=50), cluster, cluster.scope, words))
        await cluster.scope.sleep(SECOND_NS // 20)
        cluster.world.machines[BROKER].kill()
        return [problem.reason for problem in await task]

    assert cluster.run(main()) == []


@pytest.mark.parametrize("count", random_requests.FLOODS)
def test_a_flood_on_one_connection_is_answered(cluster, count) -> None:
    words = random_requests.vocabulary_of(cluster.world.cluster_id, NODES)
    floods = [draw_flood(NODES, words, count, Random(seed)) for seed in range(4)]
    assert played(cluster, *floods) == []
    assert not cluster.violations


def test_a_connection_without_back_pressure_is_found(cluster, monkeypatch) -> None:
    monkeypatch.setattr(connection, "MAX_IN_FLIGHT", 10_000)
    with pytest.raises(InvariantViolatedError, match="ConnectionsAreBounded"):
        played(cluster, pipelined(101))
