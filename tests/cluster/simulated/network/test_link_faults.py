"""Losses, resets, stalls and slow links, and what is told apart when no connection ever stood."""

from random import Random

import pytest

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.network.link_faults import (
    HARNESS,
    KINDS,
    LinkFaults,
    describe_link_fault,
    draw_link_fault,
)
from kraftproof.cluster.simulated.network.links import Stream
from tests.cluster.simulated.network.test_network import ASKED, MS, Rig

FORTH, BACK = Link(1, 2), Link(2, 1)
RETRANSMISSION_MS = 200


def test_most_runs_are_calm_and_the_others_differ():
    link_faults = [draw_link_fault(Random(seed)) for seed in range(400)]
    calm = sum(link_fault == LinkFault() for link_fault in link_faults)
    assert 200 < calm < 280
    described = {describe_link_fault(link_fault) for link_fault in link_faults}
    for word in ("no link faults", "loss", "reset", "stall", "slow"):
        assert any(word in text for text in described), word
    assert len(described) > 40
    assert len(KINDS) == 4


def arrivals(link_fault, seed=1, messages=50):
    rig = Rig()
    rig.links.add_fault([FORTH], link_fault)
    stream, arrived = Stream(FORTH), []
    rig.links._link_faults._random.seed(seed)
    for number in range(messages):
        rig.links.send(stream, lambda number=number: arrived.append((number, rig.now_ms())))
    rig.wait(60_000)
    return arrived, rig


def test_a_lost_segment_is_late_and_all_that_follows_it_on_the_stream():
    arrived, rig = arrivals(LinkFault(loss=0.05))
    assert [number for number, _ in arrived] == list(range(50))
    times = [time for _, time in arrived]
    assert times[0] < 50
    assert RETRANSMISSION_MS < times[-1] < 2_000
    first_late = next(i for i, time in enumerate(times) if time > RETRANSMISSION_MS)
    assert min(times[first_late:]) > RETRANSMISSION_MS
    assert rig.links.fault_count(FORTH) > 0
    assert rig.links.fault_count(BACK) == 0


def test_a_segment_that_is_lost_again_waits_twice_as_long():
    longest = max(arrivals(LinkFault(loss=0.6), seed, messages=1)[0][0][1] for seed in range(20))
    assert longest > RETRANSMISSION_MS * (1 + 2 + 4)


def test_a_stall_ends_within_its_time():
    arrived, _ = arrivals(LinkFault(stall=0.2, stall_ns=900 * MS))
    assert 200 < arrived[-1][1] < 950


def test_a_slow_link_delays_every_message():
    arrived, _ = arrivals(LinkFault(slow_ns=70 * MS))
    assert arrived[0][1] > 70
    assert arrived[-1][1] < 100


def test_restored_links_and_healed_ones_are_good_again():
    link_fault, other = LinkFault(slow_ns=70 * MS), LinkFault(slow_ns=500 * MS)
    rig = Rig()
    rig.links.add_fault([FORTH, BACK], link_fault)
    rig.links.add_fault([FORTH], other)
    rig.links.remove_fault([FORTH, BACK], link_fault)
    rig.links.remove_fault([BACK], link_fault)
    assert rig.links.link_faults is not None
    rig.links.remove_fault([FORTH], other)
    assert rig.links.link_faults is None
    rig.links.add_fault([FORTH], link_fault)
    rig.links.heal_all()
    assert rig.links.link_faults is None


def test_the_links_of_clients_are_left_alone():
    link_faults = LinkFaults(Random(1))
    link_faults.add([Link(HARNESS, 1), Link(1, HARNESS)], LinkFault(loss=1.0))
    assert link_faults.is_empty


def test_a_reset_leaves_open_whether_the_request_was_carried_out():
    carried_out = set()
    for seed in range(30):
        rig = Rig()
        rig.links.add_fault([FORTH], LinkFault(reset=1.0))
        rig.links._link_faults._random.seed(seed)
        connection = rig.connect()
        rig.ask(connection)
        rig.ask(connection, name="behind it")
        rig.wait(500)
        assert rig.outcomes == [("answer", False), ("behind it", False)]
        assert not connection.is_open
        carried_out.add(len(rig.server.calls))
        rig.links.heal_all()
        rig.ask(rig.connect(), name="again")
        rig.wait(900)
        assert rig.outcomes[-1] == ("again", True)
    assert carried_out == {0, 1}


class Asker:
    """Asks to be told apart what nobody has got."""

    def __init__(self, rig):
        self.rig, self.told = rig, []

    def ask(self, connection, timeout_ns=800 * MS):
        connection.send(
            ASKED,
            timeout_ns,
            lambda answer: self.told.append("lost" if answer is None else "answered"),
            lambda: self.told.append("unsent"),
        )


def refused(rig):
    rig.process = None


def cut(link):
    return lambda rig: rig.links.cut(link)


@pytest.mark.parametrize(
    ("befalls", "told"),
    [
        (lambda _: None, "answered"),
        (refused, "unsent"),
        (cut(FORTH), "unsent"),
        (cut(BACK), "unsent"),
    ],
)
def test_what_no_connection_ever_stood_for_is_unsent(befalls, told):
    rig = Rig()
    befalls(rig)
    asker = Asker(rig)
    asker.ask(rig.connect())
    rig.wait(1_000)
    assert asker.told == [told]


def test_what_was_unsent_is_never_carried_out_later():
    for link in (FORTH, BACK):
        rig = Rig()
        rig.links.cut(link)
        asker = Asker(rig)
        for _ in range(8):
            asker.ask(rig.connect())
        rig.wait(1_000)
        rig.links.heal_all()
        rig.wait(3_000)
        assert (asker.told, rig.server.calls) == (["unsent"] * 8, [])


def test_a_listener_that_opens_after_a_refusal_serves_nothing_of_that_connection():
    rig = Rig()
    process, rig.process = rig.process, None
    asker, connection = Asker(rig), rig.connect()
    asker.ask(connection)
    rig.links.add_fault([FORTH], LinkFault(slow_ns=50 * MS))
    asker.ask(connection)
    rig.wait(20)
    rig.process = process
    rig.wait(1_000)
    assert (asker.told, rig.server.calls) == (["unsent", "unsent"], [])


def test_what_was_sent_over_a_connection_that_stood_may_have_run():
    rig = Rig(answers=False)
    asker, connection = Asker(rig), rig.connect()
    asker.ask(connection)
    rig.wait(100)
    rig.links.cut(FORTH)
    asker.ask(connection)
    rig.wait(1_000)
    assert asker.told == ["lost", "lost"]
