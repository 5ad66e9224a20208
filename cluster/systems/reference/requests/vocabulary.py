"""The values that random requests are made of: names, numbers and ids, at and beyond their limits.

A request whose values mean nothing is refused early, so that most values come from a small pool
that requests share: a topic is created, created again, deleted by name and by id.
"""

from random import Random
from typing import Final

from msgspec import Struct, field

from kraftproof.node.wire.types import Uuid

PREFIX: Final = "__fuzz"
"""The start of the legal names; no workload uses names with two leading underscores."""
LEGAL: Final = (
    *(f"{PREFIX}-{number}" for number in range(6)),
    f"{PREFIX}.a",
    f"{PREFIX}_a",
    PREFIX.ljust(248, "x"),
    PREFIX.ljust(249, "x"),
)
"""Names that a topic may have; two of them collide, as they differ in dots and underscores only."""
ILLEGAL: Final = (
    "",
    ".",
    "..",
    PREFIX.ljust(250, "x"),
    PREFIX.ljust(32_767, "x"),
    "__cluster_metadata",
    f"{PREFIX}/",
    f"{PREFIX} ",
    f"{PREFIX}\n",
    f"{PREFIX}\0",
    "\0",
    f"{PREFIX}\u00e9",
    f"{PREFIX}\u00df",
    f"{PREFIX}\u0130",
    f"{PREFIX}e\u0301",
    f"{PREFIX}\u0663",
    f"{PREFIX}\u202e",
    f"{PREFIX}\ufeff",
    f"{PREFIX}\uff41",
    f"{PREFIX}\U0001f512",
    f"{PREFIX}\U0010ffff",
)
"""Names that no topic may have: too short, too long, of letters and digits beyond ASCII."""
PLANES: Final = 17
SURROGATES: Final = range(0xD800, 0xE000)
SMALL: Final = (-2, -1, -1, 0, 0, 1, 1, 2, 3, 5)
LIMITS: Final = tuple(
    number
    for bits in (7, 8, 15, 16, 31, 32, 63)
    for number in (-(1 << bits) - 1, -(1 << bits), (1 << bits) - 1, 1 << bits)
)
"""The numbers around the limits of all integer types; many do not fit into a field."""
FOREIGN_BROKERS: Final = (7_000, 7_001, 7_002)
"""Broker ids that no node of a run has, so that requests about them harm no node."""
NO_BROKERS: Final = (-1, -(1 << 31), (1 << 31) - 1)
FOREIGN_CLUSTER: Final = "AnotherClusterOfKafkaQ"
IDS_REMEMBERED: Final = 20


class Vocabulary(Struct, kw_only=True):
    """The pool of one cluster."""

    cluster_id: str
    brokers: tuple[int, ...]
    """Ids of the cluster's brokers."""
    topic_ids: list[Uuid] = field(default_factory=list)
    """Ids that answers have shown."""

    def remember(self, topic_id: Uuid) -> None:
        """Use the id of a topic in later requests."""
        self.topic_ids.append(topic_id)
        del self.topic_ids[:-IDS_REMEMBERED]


def draw_name(random: Random) -> str:
    """Return a topic's name, mostly a legal one."""
    drawn = random.random()
    if drawn < 0.7:
        return random.choice(LEGAL)
    if drawn < 0.95:
        return random.choice(ILLEGAL)
    return PREFIX + draw_character(random) * random.choice((1, 1, 2, 100))


def draw_character(random: Random) -> str:
    """Return a character of a random plane of Unicode; surrogates are no characters."""
    while True:
        code = random.randrange(PLANES) << 16 | random.randrange(1 << 16)
        if code not in SURROGATES:
            return chr(code)


def draw_text(random: Random) -> str:
    """Return a text that is no topic's name: a host, a rack, a cluster, a key."""
    if random.random() < 0.5:
        return random.choice(("", "a", "localhost", "\0", "x" * 300))
    return draw_character(random) * random.choice((1, 2, 30))


def draw_number(random: Random) -> int:
    """Return a number, mostly small, at times at the limit of an integer type."""
    return random.choice(LIMITS) if random.random() < 0.15 else random.choice(SMALL)


def draw_uuid(random: Random, vocabulary: Vocabulary) -> Uuid:
    """Return an id: of a topic that answers have shown, zero, reserved or unknown."""
    drawn = random.random()
    if drawn < 0.5 and vocabulary.topic_ids:
        return random.choice(vocabulary.topic_ids)
    if drawn < 0.75:
        return Uuid(bytes(15) + bytes([random.choice((0, 0, 1, 2))]))
    return Uuid(random.randbytes(16))


def draw_broker(random: Random, vocabulary: Vocabulary) -> int:
    """Return a broker's id, mostly of a registered broker."""
    if random.random() < 0.85:
        return random.choice(vocabulary.brokers)
    return random.choice((*FOREIGN_BROKERS, *NO_BROKERS))


def draw_timeout_ms(random: Random) -> int:
    """Return a client's time-out, in milliseconds."""
    if random.random() < 0.85:
        return random.choice((500, 1_000, 2_000))
    return random.choice((0, -1, 1, 30_000, (1 << 31) - 1, -(1 << 31)))
