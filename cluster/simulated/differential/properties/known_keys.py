"""Compare the keys of Kafka without effect, the keys that nobody defines, and retired keys.

The keys, their values and their bounds are from docs/configuration.md and from the configuration of
Kafka 4.3.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.properties.drawn_node import draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.node.properties.known_keys import unused_warning

UNUSED: Final = (
    ("num.io.threads", ("1", "8"), ("0", "x", "2147483648"), "1"),
    ("compression.type", ("producer", "zstd"), ("fast",), "producer"),
    ("auto.leader.rebalance.enable", ("true", "False"), ("maybe",), "BOOLEAN"),
    ("log.cleaner.min.cleanable.ratio", ("0.5", "1"), ("1.1", "-0.1", "x"), "DOUBLE"),
    ("log.roll.ms", ("1", "9223372036854775807"), ("9223372036854775808", "x"), "LONG"),
    ("compression.gzip.level", ("-1", "1", "9"), ("0", "10"), "9"),
    ("replica.selector.class", ("any.name", "x y"), (), ""),
    ("group.consumer.assignors", ("uniform", "uniform, range"), (), ""),
    ("sasl.jaas.config", ("anything;",), (), ""),
    ("config.providers.file.class", ("a.b",), (), ""),
    ("rlmm.config.key", ("x",), (), ""),
    ("listener.name.client.num.io.threads", ("3",), ("0",), "1"),
    ("listener.name.client.oauthbearer.sasl.login.class", ("a.B",), (), ""),
)
"""Keys without effect: legal values, illegal values, and what the refusal says of a legal one."""
UNKNOWN: Final = (
    ("num.io.thread", "num.io.threads"),
    ("log.dir.s", "log.dirs or log.dir"),
    ("broker.rac", "broker.rack"),
    ("producer.id.expiration", "producer.id.expiration.ms"),
    ("zzz", "remove it"),
    ("listener.name.client", "unknown"),
    ("listener.name..ssl.keystore.location", "unknown"),
    ("listener.name.ssl.keystore.location", "unknown"),
    ("listener.name.client.none.of.these", "unknown"),
)
"""Keys that nobody defines, each with what the refusal proposes."""
RETIRED: Final = (
    ("control.plane.listener.name", "controller.listener.names"),
    ("broker.id.generation.enable", "node.id"),
    ("zookeeper.connect", "remove it"),
    ("zookeeper.any.key", "remove it"),
)
"""Keys that KIP-631 retires, each with what to do in its place."""


def compare_known_keys(random: Random) -> None:
    """Read keys without effect, and then a key or a value that is refused.

    Raises:
        DifferenceError: a key is not named as without effect, or is taken or refused wrongly.
    """
    node = draw_node(random)
    chosen = random.sample(UNUSED, random.randint(0, 5))
    before = {key: random.choice(values) for key, values, _, _ in chosen[:2]}
    behind = {key: random.choice((*values, "")) for key, values, _, _ in chosen[2:]}
    unused = tuple(key for key, _, _, _ in chosen)
    compare_fields(
        random, {**before, **node.pairs, **behind}, {**node.fields, "unused_keys": unused}
    )
    for key in unused:
        warning = unused_warning(key)
        check(f"the warning {warning!r} names {key}", warning.startswith(f"{key}: "))
        same("lines of a warning", warning.count("\n"), 0)
    _refuse(random, {**node.pairs, **behind})


def _refuse(random: Random, pairs: dict[str, str]) -> None:
    match random.randrange(3):
        case 0:
            key, proposed = random.choice(UNKNOWN)
            compare_refusal(random, {**pairs, key: "x"}, f"{key}: unknown", proposed)
        case 1:
            key, advice = random.choice(RETIRED)
            compare_refusal(random, {**pairs, key: "x"}, f"{key}=x:", "KRaft", advice)
        case _:
            key, _, wrong, legal = random.choice([one for one in UNUSED if one[2]])
            value = random.choice(wrong)
            compare_refusal(random, {**pairs, key: value}, f"{key}={value}: is not valid", legal)
