"""Who is told of what. Not: what the invariants make of it."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import Invariant
from kraftproof.node.wire.messages import fetch_request, fetch_response, vote_request, vote_response
from tests.simulated.invariant_harness import MonitorHarness


class Everything(Invariant):
    statement = "It objects to nothing."

    def __init__(self):
        super().__init__()
        self.told = []

    def sent(self, process, effect):
        self.told.append(("sent", type(effect.message)))

    def heard(self, process, request, answer):
        self.told.append(("heard", type(request.message)))

    def received(self, process, event):
        self.told.append(("received", type(event.message)))

    def replying(self, process, event, message):
        self.told.append(("replying", type(event.message)))

    def replied(self, process, event, message):
        self.told.append(("replied", type(event.message)))


class VotesOnly(Everything):
    requests = (vote_request.VoteRequest,)


HOOKS = ("sent", "heard", "received", "replying", "replied")
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
    statement = "It objects to nothing."

    def __init__(self):
        super().__init__()
        self.told = []

    def moved(self, process, before, after):
        self.told.append("moved")

    def turned(self, process, before, after):
        self.told.append("turned")

    def stepped(self, process):
        self.told.append("stepped")

    def led(self, process):
        self.told.append("led")


@pytest.mark.parametrize("change", [{"role": "voted"}, {"epoch": 2}, {"voted_for": 3}])
def test_a_change_of_role_epoch_or_vote_is_a_turn_and_others_are_not(change):
    steps = Steps()
    process = MonitorHarness(steps).process()
    process.moves()
    assert steps.told == ["moved", "turned", "stepped"], "what it shows first is new"
    steps.told.clear()
    process.moves(high_watermark=5, log_end=7, leader=3)
    assert steps.told == ["moved", "stepped"]
    steps.told.clear()
    process.moves(**change)
    assert steps.told == ["moved", "turned", "stepped"]


def test_the_steps_of_a_leader_are_told_apart_while_it_leads():
    steps = Steps()
    process = MonitorHarness(steps).process()
    process.leads(1)
    process.steps()
    process.moves(role="resigned")
    process.steps()
    led = ["stepped", "led"]
    assert steps.told == ["moved", "turned", *led, *led, "moved", "turned", "stepped", "stepped"]
