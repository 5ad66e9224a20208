"""Compare the keys of words: switches, names, the authorizer, the addresses, and loaded classes."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.properties import plugin_samples
from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.cluster.simulated.differential.properties.written_file import written
from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.properties.config import parse_hosts, parse_server_properties
from kraftproof.node.properties.keys import ConfigError

STANDARD: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
KAFKAS_BUILDER: Final = (
    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
)
HERE: Final = plugin_samples.__name__
USERS: Final = ("User:alice", "User:CN=b,OU=c", "User:a:b", "Group:ops")
NO_USERS: Final = ("alice", "User:", ":alice", "User:a,User:b")
ADDRESSES: Final = (
    ("127.0.0.1:9404", ("127.0.0.1", 9404)),
    ("metrics:1", ("metrics", 1)),
    ("[::1]:65535", ("::1", 65535)),
    (":9404", ("", 9404)),
)
NO_ADDRESSES: Final = ("9404", "host", "host:", "host:0", "host:65536", "host:-1", "host:http")
WRONG_WORDS: Final = (
    ("authorizer.class.name", ("kafka.security.authorizer.AclAuthorizer", STANDARD.lower())),
    ("auto.create.topics.enable", ("yes", "1", "truefalse")),
    ("metrics.listener", NO_ADDRESSES),
    ("early.start.listeners", ("OTHER", "PLAINTEXT,OTHER", "plaintext")),
    (
        "principal.builder.class",
        (f"{HERE}.Nothing", "Builder", f"{HERE}.NoBuild", f"{HERE}.NoBytes", "no.module.X"),
    ),
    ("create.topic.policy.class.name", (f"{HERE}.Nothing", f"{HERE}.Failing", f"{HERE}.Builder")),
)
WRONG_OF_AUTHORIZER: Final = (
    *(("super.users", user) for user in NO_USERS),
    *(("super.users", f"User:alice;{user}") for user in NO_USERS),
    *(("allow.everyone.if.no.acl.found", word) for word in ("yes", "0")),
    *(("audit.log.level", word) for word in ("WARN", "true")),
)
"""Values that are wrong if there is an authorizer."""


def compare_words(random: Random) -> None:
    """Read words and addresses, and then one that is refused; read a file of hosts.

    Raises:
        DifferenceError: a field has another value, or a value is taken or refused wrongly.
    """
    node = draw_node(random)
    pairs, fields = {**node.pairs}, {**node.fields}
    _add_names(random, node, pairs, fields)
    _add_authorizer(random, pairs, fields)
    policy = _add_plugins(random, pairs, fields)
    if policy:
        _compare_policy(random, pairs)
    else:
        compare_fields(random, pairs, fields)
    _refuse(random, node.pairs)
    _compare_hosts(random)


def _add_names(
    random: Random, node: DrawnNode, pairs: dict[str, str], fields: dict[str, object]
) -> None:
    for key, path in (("broker.rack", "node.rack"), ("trace.file", "trace_file")):
        if random.random() < 0.5:
            value = random.choice(("", "/a/b", "east 1", "c:\\"))
            pairs[key], fields[path] = value, value or None
    if random.random() < 0.5:
        word = random.choice(("true", "TRUE", "false", "False", ""))
        pairs["auto.create.topics.enable"] = word
        fields["node.auto_creates_topics"] = word.lower() != "false"
    if random.random() < 0.5:
        pairs["metrics.listener"], fields["metrics_address"] = random.choice(ADDRESSES)
    if random.random() < 0.5:
        bound = ("PLAINTEXT",) * node.is_broker + ("CONTROLLER",) * node.is_controller
        early = tuple(random.sample(bound, random.randint(0, len(bound))))
        pairs["early.start.listeners"] = random.choice((",", " , ", ",,")).join(early)
        fields["early_listeners"] = early


def _add_authorizer(random: Random, pairs: dict[str, str], fields: dict[str, object]) -> None:
    has_class = random.random() < 0.7
    if has_class:
        pairs["authorizer.class.name"] = STANDARD
    users = tuple(random.sample(USERS, random.randint(0, 3)))
    if users or random.random() < 0.5:
        pairs["super.users"] = random.choice((";", " ; ", ";;")).join(users)
    allows, logs = (
        random.choice(("true", "True", "false", "")),
        random.choice(("INFO", "DEBUG", "debug", "")),
    )
    if allows:
        pairs["allow.everyone.if.no.acl.found"] = allows
    if logs:
        pairs["audit.log.level"] = logs
    fields["node.authorizer"] = (
        AuthorizerPolicy(
            super_users=users,
            allows_without_acl=allows.lower() == "true",
            logs_allowed=logs.upper() == "DEBUG",
        )
        if has_class
        else None
    )


def _add_plugins(random: Random, pairs: dict[str, str], fields: dict[str, object]) -> bool:
    """Add the classes of plugins; return whether a policy for topics is among them."""
    if random.random() < 0.3:
        pairs["principal.builder.class"] = KAFKAS_BUILDER
    elif random.random() < 0.3:
        pairs["principal.builder.class"] = f"{HERE}.Builder"
        fields["principals"] = plugin_samples.Builder()
    if random.random() < 0.8:
        return False
    pairs["create.topic.policy.class.name"] = f"{HERE}.Policy"
    return True


def _compare_policy(random: Random, pairs: dict[str, str]) -> None:
    """Compare the policy for topics by what the policy allows."""
    policy = parse_server_properties(written(random, pairs)).node.create_topic_policy
    check("a configured policy is read", policy is not None)
    if policy is not None:
        policy("good", 1, 1, {})
        reason = refused("a bad topic", ValueError, policy, "bad", 1, 1, {})
        same("the reason of a policy", reason, plugin_samples.REASON)


def _refuse(random: Random, pairs: dict[str, str]) -> None:
    if random.random() < 0.3:
        key, value = random.choice(WRONG_OF_AUTHORIZER)
        compare_refusal(
            random, {**pairs, "authorizer.class.name": STANDARD, key: value}, f"{key}={value}:"
        )
        return
    key, values = random.choice(WRONG_WORDS)
    value = random.choice(values)
    compare_refusal(random, {**pairs, key: value}, f"{key}={value}:")


def _compare_hosts(random: Random) -> None:
    """Compare a file of hosts: an address and its names a line, a comment behind #."""
    expected: dict[str, str] = {}
    lines: list[str] = []
    for number in range(random.randint(0, 4)):
        names = [f"host-{number}", f"h{number}", "shared"][: random.randint(1, 3)]
        address = f"127.0.0.{number + 1}"
        blank = random.choice((" ", "\t", "   "))
        lines += random.choice(([], [""], ["# a comment"], ["  # 127.0.0.9 host-0"]))
        lines.append(blank.join((address, *names)) + random.choice(("", " # names", "#x")))
        expected |= dict.fromkeys(names, address)
    same("a file of hosts", dict(parse_hosts("\n".join(lines))), expected)
    lines.append("127.0.0.1")
    text = refused("a host without a name", ConfigError, parse_hosts, "\n".join(lines))
    named("a host without a name", text, f"line {len(lines)}:", "127.0.0.1")
