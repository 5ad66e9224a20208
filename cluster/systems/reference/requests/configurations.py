"""Draw configurations of topics: every name of Kafka, with values at and beyond their limits."""

from random import Random
from typing import Final

from kraftproof.node.core.configs.definition import ConfigType
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS

_LIMITS: Final = {
    ConfigType.INT: (-(1 << 31), (1 << 31) - 1),
    ConfigType.LONG: (-(1 << 63), (1 << 63) - 1),
}
_LEFT_OUT: Final = "local."
"""Prefix of configurations that mean something only beside a remote store."""
_INTEGERS: Final = {
    one.name: (
        _LIMITS[one.type][0] if one.minimum is None else int(one.minimum),
        _LIMITS[one.type][1] if one.maximum is None else int(one.maximum),
    )
    for one in TOPIC_DEFINITIONS
    if one.type in _LIMITS and not one.is_internal and not one.name.startswith(_LEFT_OUT)
}
"""The least and the largest value of each whole number, from Kafka's own definitions."""
_WORDS: Final = {
    "cleanup.policy": ("compact", "delete", "compact,delete", "delete , compact", "", "none"),
    "compression.type": ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer", "ZSTD", "z"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "createtime", ""),
    "preallocate": ("true", "false", "TRUE", " false ", "yes", "1", ""),
    "unclean.leader.election.enable": ("true", "false", "False", "on"),
    "remote.storage.enable": ("true", "false", "maybe"),
    "remote.log.copy.disable": ("true", "false"),
    "remote.log.delete.on.disable": ("true", "false"),
    "min.cleanable.dirty.ratio": ("0", "1", "0.5", "1e-3", ".5f", "1.01", "-0.1", "NaN", "x"),
    "follower.replication.throttled.replicas": ("*", "0:1", "0:1,1:2", "", "0:1,*", "0-1", "a:b"),
    "leader.replication.throttled.replicas": ("*", "3:2", "0:1, 1:2", ":"),
}
_ODD: Final = ("", "x", "1.0", "0x10", " 7 ", "+7", "-0", "007", "\u0663", "1" * 25)
_EVERYWHERE: Final = (
    ("retention.ms", None),
    ("cleanup.policy", "\u0663"),
    ("compression.type", "x" * 32_767),
    ("no.such.config", "1"),
    ("", ""),
)
_LAGS: Final = ("min.compaction.lag.ms", "max.compaction.lag.ms")


def draw_configurations(random: Random) -> list[tuple[str, str | None]]:
    """Return some configurations, mostly legal ones, with names that may repeat."""
    if random.random() < 0.1:  # two that depend on each other
        return [(name, str(random.choice((1, 5, 9)))) for name in _LAGS]
    return [_draw(random) for _ in range(random.choice((1, 1, 2, 3)))]


def _draw(random: Random) -> tuple[str, str | None]:
    drawn = random.random()
    if drawn < 0.1:
        return random.choice(_EVERYWHERE)
    if drawn < 0.45:
        name = random.choice(sorted(_WORDS))
        return name, random.choice(_WORDS[name])
    name = random.choice(sorted(_INTEGERS))
    least, most = _INTEGERS[name]
    if drawn < 0.6:
        return name, random.choice(_ODD)
    near = (least, most, min(most, least + 1000), least - 1, most + 1)
    return name, str(random.choice(near))
