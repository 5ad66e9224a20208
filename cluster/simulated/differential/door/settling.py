"""Compare the effects of each step of a broker with those that the models state."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers.membership_model import ENDED
from kraftproof.cluster.simulated.differential.brokers.membership_play import request_of
from kraftproof.cluster.simulated.differential.difference import check, named, same
from kraftproof.cluster.simulated.differential.door.creation_model import same_creation
from kraftproof.cluster.simulated.differential.door.neighbours import Neighbours, Open, judged
from kraftproof.cluster.simulated.differential.door.rig import Effects
from kraftproof.cluster.simulated.differential.door.view import LOG
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    api_versions_request,
    create_topics_request,
)

ASK_VERSIONS_IN: Final = 3
"""The version of ApiVersions that each controller reads."""


class Settling(Neighbours):
    """A broker whose effects are compared after each step."""

    def settle(self) -> None:
        """Let the broker follow its neighbours, and compare the effects of the step.

        Raises:
            DifferenceError: an effect, a state or a time is another one.
        """
        effects, now = self.rig.advance(), self.rig.now_ns
        self.membership.advance(now)
        self.forwards.advance(self.leader, now)
        self.versions.advance(self.leader, self.rig.quorum.epoch)
        self.led.advance(follows_image=self.membership.has_caught_up)
        if self.membership.state == ENDED:
            self.led.stop()
        self._compare_sends(effects.sends)
        self._compare_forwards(effects.forwards)
        self._compare_replies(effects)
        self._compare_disk(effects)
        self._compare_ends(effects)
        self._compare_state()

    def _compare_sends(self, sends: list[Send]) -> None:
        """Compare the broker's own requests, each with its cause."""
        request_ns = self.view.config.timeouts.request_ns
        kinds: dict[type[Message], Callable[[Send], None]] = {
            api_versions_request.ApiVersionsRequest: self._versions_asked,
            allocate_producer_ids_request.AllocateProducerIdsRequest: self._ids_asked,
            create_topics_request.CreateTopicsRequest: self._creation_asked,
        }
        for send in sends:
            same("the time-out of a request", send.timeout_ns, request_ns)
            check("a request to a controller", not send.is_to_broker)
            kinds.get(type(send.message), self._membership_asked)(send)
        own = [one for one in self.creations.sent if one.client is None]
        asked = (self.membership.sent, self.versions.sent, own, self.producers.asks)
        same("the requests that the broker has not sent", asked, ([], [], [], False))

    def _membership_asked(self, send: Send) -> None:
        check(f"a reason for {send.message}", self.membership.sent)
        asked = self.membership.sent.pop(0)
        expected = (*request_of(self.view.config, asked), asked.controller)
        same(
            "a request of the membership", (send.message, send.version, send.destination), expected
        )
        self.opened.append(Open(send.correlation, asked))

    def _versions_asked(self, send: Send) -> None:
        message = send.message
        assert isinstance(message, api_versions_request.ApiVersionsRequest), "chosen by its type"
        check("a new controller is asked for its versions", self.versions.sent)
        asked = self.versions.sent.pop(0)
        same(
            "who is asked for versions",
            (send.destination, send.version),
            (asked[0], ASK_VERSIONS_IN),
        )
        texts = (message.client_software_name, message.client_software_version)
        check("a broker names its software", all(text.isalnum() for text in texts))
        self.opened.append(Open(send.correlation, asked))

    def _ids_asked(self, send: Send) -> None:
        check("a block of producer ids is wanted", self.producers.asks)
        self.producers.asks = False
        asked = allocate_producer_ids_request.AllocateProducerIdsRequest(
            broker_id=self.view.config.node_id, broker_epoch=self.broker_epoch
        )
        found = (send.destination, send.message, send.version)
        same("a request for producer ids", found, (self.leader, asked, 0))
        self.opened.append(Open(send.correlation, None))

    def _creation_asked(self, send: Send | Forward) -> None:
        check("a topic is wanted", self.creations.sent)
        creation = self.creations.sent.pop(0)
        same_creation(send, creation, self.view.config.timeouts.request_ns)
        self.opened.append(Open(send.correlation, creation))

    def _compare_forwards(self, forwards: list[Forward]) -> None:
        """Compare the requests in Envelopes, in their order."""
        for forward in forwards:
            if self.creations.sent:
                self._creation_asked(forward)
                continue
            check(f"a reason for {forward.message}", self.forwards.sent)
            sent = self.forwards.sent.pop(0)
            found = replace(forward, correlation=0)
            same("a forwarded request", found.message, sent.forward.message)
            same("its Envelope", found, sent.forward)
            self.opened.append(Open(forward.correlation, sent.held))
        missing = (self.forwards.sent, self.creations.sent)
        same("the requests that the broker has not forwarded", missing, ([], []))

    def _compare_replies(self, effects: Effects) -> None:
        """Compare the answers to clients: each that is due, and no other."""
        for held, error in self.forwards.refused:
            self.due[held.event.request] = partial(judged, held, error)
        for request, producer_id in self.producers.given.items():
            self.due[request] = partial(_same_producer, producer_id)
        for request, code in self.led.answered.items():
            self.due[request] = partial(_same_produced, code)
        self.forwards.refused.clear()
        self.producers.given.clear()
        self.led.answered.clear()
        for request, answer in effects.replies.items():
            check(f"an answer is due: {answer}", request in self.due)
            self.due.pop(request)(answer)
        same("the requests without an answer", sorted(self.due), [])
        same("the ends without an answer", effects.ended, self.ends)
        self.ends.clear()

    def _compare_disk(self, effects: Effects) -> None:
        """Compare the work on the log of the led partition."""
        flushes = [(one.log, one.end_offset) for one in effects.flushes]
        same("the flushes", flushes, [(LOG, end) for end in self.led.flush_ends])
        self.led.flush_ends.clear()
        self.flushes += effects.flushes
        saved = [one.high_watermarks for one in effects.checkpoints]
        same("the checkpoints", saved, [((LOG, end),) for end in self.led.saved])
        starts = [start for one in effects.checkpoints for start in one.log_starts]
        same("the starts of logs in checkpoints", starts, [])
        self.led.saved.clear()
        searched = [one.log for one in effects.searches]
        same("the searches", searched, [] if self.searching is None else [LOG])
        for search in effects.searches:
            assert self.searching is not None, "compared"
            self.searches.append((search, self.searching))
        self.searching = None

    def _compare_ends(self, effects: Effects) -> None:
        """Compare the end of the process, and the openings of the listeners."""
        same("the openings of listeners", effects.opens, int(self.membership.opens_listeners))
        self.membership.opens_listeners = False
        due: list[tuple[int, tuple[str, ...]]] = [(1, (reason,)) for reason in self.exits]
        if self.membership.ending is not None:
            due.append((self.membership.ending.status, self.membership.ending.words))
        same("the ends", [one.status for one in effects.exits], [status for status, _ in due])
        for found, (_, words) in zip(effects.exits, due, strict=True):
            named("the reason to end", found.reason, *words)
        self.has_ended = bool(due)

    def _compare_state(self) -> None:
        broker, membership = self.rig.broker, self.membership
        found = (broker.state, broker.broker_epoch)
        same("state and epoch", found, (membership.state, self.broker_epoch))
        same("the advertised versions", dict(broker.versions), dict(self.versions.advertised))
        same("the next event", broker.deadline(), self.next_time())


def _same_producer(producer_id: int | None, answer: Any) -> None:  # noqa: ANN401 - of many classes
    found = (answer.error_code, answer.producer_id, answer.producer_epoch)
    refused = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1, -1)
    expected = refused if producer_id is None else (ErrorCode.NONE, producer_id, 0)
    same("the answer to a producer", found, expected)


def _same_produced(error: ErrorCode, answer: Any) -> None:  # noqa: ANN401 - of many classes
    found = [part.error_code for topic in answer.responses for part in topic.partition_responses]
    same("the error of Produce", found, [int(error)])
