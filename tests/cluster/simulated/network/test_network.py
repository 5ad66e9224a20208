"""What a request notices of the network: silence, resets, pauses, and in which order."""

from random import Random
from types import SimpleNamespace

import pytest

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler, SimulationLimitError
from kraftproof.cluster.simulated.network.client_channel import ClientChannel
from kraftproof.cluster.simulated.network.link_faults import LinkFaults
from kraftproof.cluster.simulated.network.links import RETRANSMISSION_NS, Links, Stream
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.network.transport import (
    CodecTransport,
    InMemoryTransport,
    Outgoing,
)
from kraftproof.cluster.simulated.node.suspension import Suspension
from kraftproof.node.wire.messages import metadata_request, metadata_response

MS = 1_000_000
ASKED = Outgoing(message=metadata_request.MetadataRequest(topics=()), version=12)
ANSWER = metadata_response.MetadataResponse(cluster_id="c")


def raises(*crash):
    raise crash[-1]


class ServerEndpoint:
    """Answers at once, or keeps the calls; behind a suspension, as a process is."""

    def __init__(self, scheduler, *, answers=True):
        self.suspension = Suspension(scheduler, Random(5), raises)
        self.answers = answers
        self.calls = []
        self.listens = True

    def accepts(self):
        return self.listens

    def serve(self, call, arrived):
        def read():
            self.calls.append(call)
            if self.answers:
                call.answer(ANSWER)

        self.suspension.when_reading(read, call.connection)


class ClientEndpoint:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def hear(self, action, connection):
        action()

    def is_answered(self, asked, answered):
        assert asked is answered

    def now_ns(self):
        return self.scheduler.now_ns

    def after(self, delay_ns, action):
        return self.scheduler.after(delay_ns, action)


class Rig:
    def __init__(self, transport=None, **server):
        self.scheduler = Scheduler()
        self.links = Links(self.scheduler, Random(1), LinkFaults(Random(2)))
        self.server = ServerEndpoint(self.scheduler, **server)
        self.process = self.server
        self.network = Network(
            self.links, transport or InMemoryTransport(), lambda _: self.process, raises
        )
        self.heard = []

    def connect(self, source=1):
        client = ClientEndpoint(self.scheduler)
        return ClientChannel(self.network, Link(source, 2), client, client)

    def ask(self, connection, timeout_ns=1_000 * MS, name="answer"):
        connection.send(
            ASKED, timeout_ns, lambda answer: self.heard.append((name, answer, self.now_ms()))
        )

    def now_ms(self):
        return self.scheduler.now_ns / MS

    def wait(self, until_ms):
        alarm = SimpleNamespace(is_set=False)
        self.scheduler.at(until_ms * MS, lambda: setattr(alarm, "is_set", True))
        self.scheduler.run_until(alarm, until_ns=until_ms * MS, maximum_events=10_000)

    @property
    def outcomes(self):
        return [(name, answer is not None) for name, answer, _ in self.heard]


@pytest.mark.parametrize("transport", [InMemoryTransport(), CodecTransport()])
def test_a_request_is_answered(transport):
    rig = Rig(transport)
    rig.ask(rig.connect())
    rig.wait(500)
    assert [answer for _, answer, _ in rig.heard] == [ANSWER]
    assert (transport.bytes_passed > 0) == isinstance(transport, CodecTransport)


def test_answers_come_in_the_order_of_the_requests():
    rig = Rig(answers=False)
    connection = rig.connect()
    rig.ask(connection, name="first")
    rig.ask(connection, name="second")
    rig.wait(200)
    first, second = rig.server.calls
    second.answer(ANSWER)
    rig.wait(400)
    assert rig.heard == []
    first.answer(ANSWER)
    rig.wait(600)
    assert rig.outcomes == [("first", True), ("second", True)]


def test_a_machine_without_the_process_refuses_at_once():
    rig = Rig()
    rig.process = None
    rig.ask(rig.connect())
    rig.wait(500)
    assert rig.outcomes == [("answer", False)]
    assert rig.heard[0][2] < 500


def test_the_death_of_a_process_resets_its_connections():
    rig = Rig(answers=False)
    connection = rig.connect()
    rig.ask(connection)
    rig.wait(300)
    assert rig.heard == []
    dead, rig.process = rig.process, ServerEndpoint(rig.scheduler)
    rig.network.process_died(dead)
    rig.wait(600)
    assert rig.outcomes == [("answer", False)]
    assert not connection.is_open
    rig.ask(rig.connect(), name="again")
    rig.wait(900)
    assert rig.outcomes[-1] == ("again", True)


def test_a_cut_link_is_silent_until_the_time_out_which_ends_the_connection():
    rig = Rig()
    connection = rig.connect()
    rig.links.cut(Link(1, 2))
    rig.ask(connection, timeout_ns=800 * MS, name="first")
    rig.ask(connection, timeout_ns=2_000 * MS, name="second")
    rig.wait(1_000)
    assert rig.outcomes == [("first", False), ("second", False)]
    assert {time_ms for _, _, time_ms in rig.heard} == {800.0}
    assert rig.server.calls == []
    assert rig.links.withheld(Link(1, 2)) == 2


def test_a_cut_of_the_way_back_withholds_the_answer_only():
    rig = Rig()
    connection = rig.connect()
    rig.ask(connection, name="before")
    rig.wait(100)
    rig.links.cut(Link(2, 1))
    rig.ask(connection, timeout_ns=500 * MS, name="during")
    rig.wait(1_000)
    assert len(rig.server.calls) == 2
    assert rig.outcomes == [("before", True), ("during", False)]


def test_what_a_cut_held_arrives_after_the_heal_in_its_order():
    rig = Rig(answers=False)
    links, stream, arrived = rig.links, Stream(Link(1, 2)), []
    links.cut(Link(1, 2))
    for number in range(20):
        links.send(stream, lambda number=number: arrived.append(number))
    rig.wait(100)
    assert arrived == []
    links.heal(Link(1, 2))
    links.send(stream, lambda: arrived.append(20))
    rig.wait(100 + RETRANSMISSION_NS // MS + 300)
    assert arrived == list(range(21))


def test_some_of_what_a_lost_connection_had_sent_arrives_late_and_some_never():
    arrived = set()
    for seed in range(40):
        scheduler = Scheduler()
        links, stream = Links(scheduler, Random(seed), LinkFaults(Random(2))), Stream(Link(1, 2))
        links.cut(Link(1, 2))
        links.send(stream, lambda seed=seed: arrived.add(seed))
        with pytest.raises(SimulationLimitError):
            scheduler.run_until(SimpleNamespace(is_set=False), until_ns=MS, maximum_events=10)
        stream.is_given_up = True
        links.heal(Link(1, 2))
        with pytest.raises(SimulationLimitError):
            scheduler.run_until(
                SimpleNamespace(is_set=False), until_ns=1_000 * MS, maximum_events=10
            )
    assert 5 < len(arrived) < 35


def test_messages_that_were_on_their_way_are_withheld_too():
    rig = Rig()
    stream, arrived = Stream(Link(1, 2)), []
    rig.links.send(stream, lambda: arrived.append(1))
    rig.links.cut(Link(1, 2))
    rig.wait(500)
    assert arrived == []
    assert rig.links.withheld(Link(1, 2)) == 1


def test_a_paused_process_finds_its_messages_when_it_wakes():
    rig = Rig()
    connection, other = rig.connect(), rig.connect(3)
    rig.server.suspension.pause()
    for number in range(5):
        rig.ask(connection, name=f"one {number}")
        rig.ask(other, name=f"other {number}")
    rig.wait(300)
    assert rig.heard == []
    rig.server.suspension.resume()
    read_from = [call.connection for call in rig.server.calls]
    assert sorted(read_from.count(c.connection) for c in (connection, other)) == [5, 5]
    rig.wait(600)
    names = [name for name, answer, _ in rig.heard if answer is not None]
    for who in ("one", "other"):
        assert [n for n in names if n.startswith(f"{who} ")] == [f"{who} {n}" for n in range(5)]


def test_a_process_that_dies_asleep_reads_nothing():
    rig = Rig()
    rig.server.suspension.pause()
    rig.ask(rig.connect())
    rig.wait(300)
    rig.server.suspension.end()
    rig.server.suspension.resume()
    assert rig.server.calls == []


def test_pauses_are_no_running_time():
    rig = Rig()
    suspension = rig.server.suspension
    rig.wait(100)
    suspension.pause()
    rig.wait(250)
    assert suspension.running_ns() == 100 * MS
    suspension.resume()
    rig.wait(300)
    assert suspension.running_ns() == 150 * MS
