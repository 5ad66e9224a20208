"""Compare a broker's defaults for its topics: the synonyms, their units and their bounds.

A topic without a value of its own has the value of its broker: `log.retention.ms` comes before the
minutes, and the minutes before the hours.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.properties.drawn_node import draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.settings import topic_settings

INT, LONG = 2_147_483_647, 9_223_372_036_854_775_807
MS_OF_UNITS: Final = (
    ("log.retention.ms", 1, LONG),
    ("log.retention.minutes", 60_000, INT),
    ("log.retention.hours", 3_600_000, INT),
)
"""The keys of the retention, the first before the second, with their units and largest values."""
WEEK_MS: Final = 604_800_000
NUMBERS: Final = (
    ("log.flush.interval.messages", 1, LONG),
    ("log.message.timestamp.after.max.ms", 0, LONG),
    ("log.message.timestamp.before.max.ms", 0, LONG),
    ("log.retention.bytes", -LONG - 1, LONG),
    ("log.segment.bytes", 1_048_576, INT),
    ("message.max.bytes", 0, INT),
    ("min.insync.replicas", 1, INT),
)
WORDS: Final = (
    ("log.message.timestamp.type", ("CreateTime", "LogAppendTime"), ("createtime", "x")),
    ("log.cleanup.policy", ("delete", "compact", "delete,compact", "delete , compact"), ("keep",)),
)


def compare_topic_defaults(random: Random) -> None:
    """Read defaults for topics, ask for a topic's retention, and read one that is refused.

    Raises:
        DifferenceError: a default is taken or refused wrongly, or has another unit.
    """
    node = draw_node(random)
    pairs = {**node.pairs}
    retention_ms = _draw_retention(random, pairs)
    for key, least, most in random.sample(NUMBERS, random.randint(0, 4)):
        pairs[key] = str(random.choice((least, least + 1, most)))
    for key, legal, _ in random.sample(WORDS, random.randint(0, 2)):
        pairs[key] = random.choice(legal)
    compare_fields(random, pairs, node.fields)
    found = topic_settings(EMPTY_IMAGE, "t", NodeId(node.node_id), pairs).retention_ms
    same(f"the retention of a topic with {pairs}", found, retention_ms)
    _refuse(random, node.pairs)


def _draw_retention(random: Random, pairs: dict[str, str]) -> int:
    """Add keys of the retention; return the retention that follows."""
    found = None
    for key, unit_ms, most in MS_OF_UNITS:
        if random.random() < 0.6:
            continue
        value = random.choice((-1, 1, 5, most))
        pairs[key] = str(value)
        if found is None:
            found = -1 if value < 0 else value * unit_ms
    return WEEK_MS if found is None else found


def _refuse(random: Random, pairs: dict[str, str]) -> None:
    if random.random() < 0.2:
        key, _, wrong = random.choice(WORDS)
        compare_refusal(random, {**pairs, key: wrong[0]}, f"{key}={wrong[0]}: is not valid")
        return
    whole = (*((key, -1, most) for key, _, most in MS_OF_UNITS[1:]), *NUMBERS)
    key, least, most = random.choice(whole)
    text = random.choice((str(least - 1), str(most + 1), "x", "1.5", ""))
    compare_refusal(random, {**pairs, key: text}, f"{key}={text}: is not valid")
