"""Compare the answers of a controller to clients with a quota of changes (KIP-599).

A bucket of tokens is written here anew: a request of a newer version is refused while the bucket is
below zero, and an older client waits instead. The answer says for how long.
"""

from random import Random
from typing import Any, Final, NamedTuple

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.rules.quota_model import (
    CLIENTS,
    LONGEST_MS,
    MS_NS,
    SECOND_NS,
    USERS,
    Budget,
    bound_of,
    draw_quotas,
    image_of,
)
from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Instant, Monotonic, Offset, WallClock
from kraftproof.node.core.controller.authorized import decide_metered
from kraftproof.node.core.controller.decisions import DecisionContext
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.quotas.mutations import MutationQuotas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
)
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.types import Uuid

STEPS: Final = 10
CHANGES: Final = "controller_mutation_rate"
BROKER: Final = 1
WAITS_MS: Final = (0, 0, 1, 250, 1_000, 7_000)
PARTS: Final = {
    "CreateTopics": "topics",
    "CreatePartitions": "results",
    "DeleteTopics": "responses",
}
"""The field of an answer with a part for each topic."""


class Metered(NamedTuple):
    """A request about topics."""

    message: Message
    strict_from: int
    """The first version whose clients know THROTTLING_QUOTA_EXCEEDED."""
    changes: dict[str, int]
    """Number of partitions to create or to delete, by topic."""


def compare_metered_changes(random: Random) -> None:
    """Create, enlarge and delete topics as clients with quotas, and compare each answer.

    Raises:
        DifferenceError: a change is refused, made, or throttled in another way.
    """
    clients = _Clients(random)
    for _ in range(STEPS):
        clients.wait()
        clients.ask()


class _Clients:
    """The clients of a controller, their quotas and buckets, and the size of each topic."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.now = SECOND_NS
        self._policy = QuotaPolicy(windows=random.choice((1, 2, 11)), window_ns=SECOND_NS)
        self._mutations = MutationQuotas(self._policy)
        self._quotas = draw_quotas(random, (CHANGES,))
        self._image = apply_all(image_of(self._quotas), (registered(BROKER, (Uuid(b"d" * 16),)),))
        self._sizes: dict[str, int] = {}
        self._tokens: dict[Budget, tuple[float, int]] = {}
        """The tokens of a budget and the time of its last request; a missing budget is full."""
        self._made = self._wait_ms = 0
        self._name = ("", "")
        """The user and the client id of the last request."""

    def wait(self) -> None:
        """Let time pass: any time, or as long as the last answer said, or a millisecond less."""
        stated = (self._wait_ms, max(self._wait_ms - 1, 0))
        self.now += self._random.choice((*WAITS_MS, *stated, *stated, *stated)) * MS_NS
        if self._random.random() < 0.4:
            self._name = (self._random.choice(USERS), self._random.choice(CLIENTS))

    def ask(self) -> None:
        """Send a request, judge the answer, and follow the image."""
        asked = self._draw()
        version = asked.strict_from - self._random.choice((0, 1))
        event = Received(
            request=1,
            message=asked.message,
            version=version,
            on_controller_listener=True,
            principal=Principal(type="User", name=self._name[0]),
            client_host="h",
            client_id=self._name[1],
        )
        outcome = decide_metered(self._mutations, None, event, self._context(event))
        refused, self._wait_ms = self._judged(event, asked)
        reply: Any = outcome.reply
        what = type(asked.message).__name__.removesuffix("Request")
        errors = {one.name: ErrorCode(one.error_code) for one in getattr(reply, PARTS[what])}
        over = ErrorCode.THROTTLING_QUOTA_EXCEEDED
        due = {name: over if name in refused else ErrorCode.NONE for name in asked.changes}
        same(f"the answer to {what} v{version}", errors, due)
        same(f"the wait in the answer to {what} v{version}", reply.throttle_time_ms, self._wait_ms)
        self._image = apply_all(self._image, outcome.records)
        self._follow(asked, refused)

    def _draw(self) -> Metered:
        random = self._random
        names = random.sample(sorted(self._sizes), min(len(self._sizes), random.randint(1, 3)))
        kind = random.random()
        if not names or kind < 0.5:
            return self._creation()
        if kind < 0.75:
            module = delete_topics_request
            states = tuple(module.DeleteTopicState(name=name) for name in names)
            by_name = module.DeleteTopicsRequest(topics=states, topic_names=(), timeout_ms=1_000)
            return Metered(by_name, 5, {name: self._sizes[name] for name in names})
        more = {name: random.choice((1, 2, 30)) for name in names}
        growth = create_partitions_request.CreatePartitionsRequest(
            topics=tuple(
                create_partitions_request.CreatePartitionsTopic(
                    name=name, count=self._sizes[name] + added, assignments=None
                )
                for name, added in more.items()
            ),
            timeout_ms=1_000,
        )
        return Metered(growth, 3, more)

    def _creation(self) -> Metered:
        self._made += 3
        names = [f"t{self._made + place}" for place in range(self._random.randint(1, 3))]
        sizes = {name: self._random.choice((1, 2, 16, 50)) for name in names}
        topics = tuple(
            create_topics_request.CreatableTopic(
                name=name, num_partitions=size, replication_factor=1
            )
            for name, size in sizes.items()
        )
        creation = create_topics_request.CreateTopicsRequest(topics=topics, timeout_ms=1_000)
        return Metered(creation, 6, sizes)

    def _judged(self, event: Received, asked: Metered) -> tuple[set[str], int]:
        """Return the topics that the quota refuses, and the wait of the client."""
        bound = bound_of(self._quotas, CHANGES, event.principal.name, event.client_id)
        if bound is None:
            return set(), 0
        rate, budget = bound
        most = rate * self._policy.windows
        tokens, since = self._tokens.get(budget, (most, self.now))
        tokens = min(most, tokens + rate * (self.now - since) / SECOND_NS)
        is_strict, refused, wait_ms = event.version >= asked.strict_from, set[str](), 0
        for name, partitions in asked.changes.items():
            is_over = tokens < 0
            if is_strict and is_over:
                refused.add(name)
            else:
                tokens -= partitions
            if name in refused or (tokens < 0 and not is_strict):
                wait_ms = max(1, round(min(-tokens / rate * 1000, LONGEST_MS)))
        self._tokens[budget] = (tokens, self.now)
        return refused, wait_ms

    def _follow(self, asked: Metered, refused: set[str]) -> None:
        is_deletion = isinstance(asked.message, delete_topics_request.DeleteTopicsRequest)
        for name in set(asked.changes) - refused:
            if is_deletion:
                del self._sizes[name]
            else:
                self._sizes[name] = self._sizes.get(name, 0) + asked.changes[name]

    def _context(self, event: Received) -> DecisionContext:
        return DecisionContext(
            image=self._image,
            config=BARE_BROKER,
            random=self._random,
            next_offset=Offset(100),
            sessions=Sessions(SECOND_NS),
            now=Instant(Monotonic(self.now), WallClock(0)),
            principal=event.principal,
            version=event.version,
        )
