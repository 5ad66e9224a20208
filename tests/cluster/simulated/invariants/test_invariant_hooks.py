"""Which hooks the monitor calls, and when."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import LOOK_NS, Invariant
from kraftproof.node.core.events import Stop, Tick
from kraftproof.node.wire.messages import fetch_request, fetch_response, vote_request, vote_response
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness


class Everything(Invariant):
    statement = "It reports no violation."

    def __init__(self):
        super().__init__()
        self.told = []

    def on_sent(self, process, effect):
        self.told.append(("on_sent", type(effect.message)))

    def on_response(self, process, request, answer):
        self.told.append(("on_response", type(request.message)))

    def on_received(self, process, event):
        self.told.append(("on_received", type(event.message)))

    def on_replying(self, process, event, message):
        self.told.append(("on_replying", type(event.message)))

    def on_replied(self, process, event, message):
        self.told.append(("on_replied", type(event.message)))


class VotesOnly(Everything):
    requests = (vote_request.VoteRequest,)


HOOKS = ("on_sent", "on_response", "on_received", "on_replying", "on_replied")
FETCH, VOTE = fetch_request.FetchRequest(), vote_request.VoteRequest()


def exchange(process, request, answer):
    process.sends(request)
    process.hears(2, request, answer)
    process.replies(process.receives(request), answer)


def test_an_invariant_gets_the_requests_that_it_names_and_no_others():
    everything, votes_only = Everything(), VotesOnly()
    process = MonitorHarness(everything, votes_only).process()
    exchange(process, FETCH, fetch_response.FetchResponse())
    exchange(process, VOTE, vote_response.VoteResponse())
    of_votes = [(hook, vote_request.VoteRequest) for hook in HOOKS]
    assert votes_only.told == of_votes
    assert everything.told == [(hook, fetch_request.FetchRequest) for hook in HOOKS] + of_votes


def test_who_joins_hears_of_every_request_also_of_those_seen_before():
    listener, harness = Everything(), MonitorHarness(VotesOnly())
    process = harness.process()
    exchange(process, FETCH, fetch_response.FetchResponse())
    harness.monitor.join(listener)
    exchange(process, FETCH, fetch_response.FetchResponse())
    assert listener.told == [(hook, fetch_request.FetchRequest) for hook in HOOKS]


class Steps(Invariant):
    statement = "It reports no violation."

    def __init__(self):
        super().__init__()
        self.told = []

    def on_status_changed(self, process, before, after):
        self.told.append("on_status_changed")

    def on_role_changed(self, process, before, after):
        self.told.append("on_role_changed")

    def on_step(self, process):
        self.told.append("on_step")

    def on_leader_step(self, process):
        self.told.append("on_leader_step")


class StopsOnly(Steps):
    step_events = (Stop,)
    requests = (vote_request.VoteRequest,)

    def on_sent(self, process, effect):
        self.told.append(type(effect.message))


@pytest.mark.parametrize("joins", [False, True])
def test_an_invariant_gets_the_steps_of_the_events_that_it_names(joins):
    every, stops = Steps(), StopsOnly()
    harness = MonitorHarness(every, *(() if joins else (stops,)))
    if joins:
        harness.monitor.join(stops)
    process = harness.process()
    for event in (None, Tick(), Stop(), Tick()):
        process.event = event
        process.steps()
    assert every.told == ["on_step"] * 4
    assert stops.told == ["on_step"]
    process.sends(FETCH)
    process.sends(VOTE)
    assert stops.told == ["on_step", vote_request.VoteRequest]


class Looks(Invariant):
    statement = "It reports no violation."

    def __init__(self):
        super().__init__()
        self.told = []

    def on_look(self, process):
        self.told.append((process.node_id, process.now_ns()))


def test_each_node_is_looked_at_once_in_a_while():
    looks = Looks()
    harness = MonitorHarness(looks)
    for node_id in (1, 2):
        process = harness.process(node_id)
        process.steps()
        harness.now_ns += LOOK_NS - 1
        process.steps()
        harness.now_ns += 1
        process.steps()
        process.steps()
    assert looks.told == [(1, 0), (1, LOOK_NS), (2, LOOK_NS), (2, 2 * LOOK_NS)]


@pytest.mark.parametrize("change", [{"role": "voted"}, {"epoch": 2}, {"voted_for": 3}])
def test_a_change_of_role_epoch_or_vote_is_a_turn_and_others_are_not(change):
    steps = Steps()
    process = MonitorHarness(steps).process()
    process.moves()
    assert steps.told == ["on_status_changed", "on_role_changed", "on_step"], (
        "what it shows first is new"
    )
    steps.told.clear()
    process.moves(high_watermark=5, log_end=7, leader=3)
    assert steps.told == ["on_status_changed", "on_step"]
    steps.told.clear()
    process.moves(**change)
    assert steps.told == ["on_status_changed", "on_role_changed", "on_step"]


def test_the_steps_of_a_leader_are_told_apart_while_it_leads():
    steps = Steps()
    process = MonitorHarness(steps).process()
    process.leads(1)
    process.steps()
    process.moves(role="resigned")
    process.steps()
    led = ["on_step", "on_leader_step"]
    assert steps.told == [
        "on_status_changed",
        "on_role_changed",
        *led,
        *led,
        "on_status_changed",
        "on_role_changed",
        "on_step",
        "on_step",
    ]
