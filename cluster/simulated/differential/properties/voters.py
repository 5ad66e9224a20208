"""Compare the voters of the quorum (KIP-595, "Configurations"), and the sole controller."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import attempt, named, refused, same
from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.cluster.simulated.differential.properties.written_file import written
from kraftproof.node.core.base.config import Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.config import ServerConfig, parse_server_properties
from kraftproof.node.properties.keys import ConfigError

VOTERS: Final = "controller.quorum.voters"
SERVERS: Final = "controller.quorum.bootstrap.servers"
LARGEST: Final = 2_147_483_647
HOSTS: Final = (
    ("h", "h"),
    ("10.0.0.1", "10.0.0.1"),
    ("[::1]", "::1"),
    ("a-b.example", "a-b.example"),
)
NO_VOTERS: Final = (
    *("4", "h:1", "4:h:1", "@h:1", "x@h:1", "-4@h:1", "4.0@h:1", f"{LARGEST + 1}@h:1"),
    *("4@", "4@h", "4@:1", "4@h:", "4@h:0", "4@h:65536", "4@h:x", "4@h h:1", "4@h;h:1", "4@h/h:1"),
    *("4@h@h:1", "4@h:-1"),
)


def compare_voters(random: Random) -> None:
    """Read voters, static or formatted, and then voters that are refused.

    Raises:
        DifferenceError: a voter has another field, or voters are taken or refused wrongly.
    """
    node = draw_node(random)
    if random.random() < 0.3:
        _compare_servers(random, node)
    else:
        voters, text = _draw_voters(random, node)
        pairs = {**node.pairs, VOTERS: text}
        if random.random() < 0.3:
            pairs[SERVERS] = "any:1"
        ids = tuple(sorted(voter.node_id for voter in voters))
        fields = {**node.fields, "node.voters": voters, "storage.voter_ids": ids}
        compare_fields(random, pairs, fields)
    _refuse(random, node)


def _draw_voters(random: Random, node: DrawnNode) -> tuple[tuple[Voter, ...], str]:
    """Return voters that fit the role of a node, and their text."""
    ids = random.sample([one for one in (0, 2, 10, LARGEST) if one != node.node_id], 3)
    ids = ids[: random.randint(0 if node.is_controller else 1, 3)]
    if node.is_controller:
        ids.insert(random.randint(0, len(ids)), node.node_id)
    voters: list[Voter] = []
    texts: list[str] = []
    for one in ids:
        (shown, host), port = random.choice(HOSTS), random.choice((1, 9093, 65_535))
        voters.append(Voter(node_id=NodeId(one), host=host, port=port))
        texts.append(f"{random.choice(('', '', '0'))}{one}@{shown}:{port}")
    return tuple(voters), random.choice((",", " , ", ",,")).join(texts)


def _compare_servers(random: Random, node: DrawnNode) -> None:
    """Compare a node whose file names servers only: its voters are formatted, or itself alone."""
    pairs = {**node.pairs, SERVERS: f"host-{node.node_id}:9093"}
    pairs.pop(VOTERS)
    if random.random() < 0.3:
        pairs[VOTERS] = ""
    formatted: tuple[Voter, ...] = (Voter(node_id=NodeId(77), host="f", port=1),)
    if node.is_controller:
        own = (Voter(node_id=NodeId(node.node_id), host=f"host-{node.node_id}", port=9093),)
        fields = {**node.fields, "node.voters": own, "storage.voter_ids": (node.node_id,)}
        compare_fields(random, pairs, fields)
        formatted = (*formatted, *own)
        wrong = random.choice(("other:9093", f"host-{node.node_id}:9094", "a:1,b:2"))
        causes = (f"{VOTERS}: is missing", f"{SERVERS}={wrong}")
        compare_refusal(random, {**pairs, SERVERS: wrong}, *causes)
        compare_refusal(random, {**pairs, SERVERS: "x"}, f"{SERVERS}=x: 'x' is not host:port")
    asked: list[str] = []

    def read(directory: str) -> tuple[Voter, ...]:
        asked.append(directory)
        return formatted

    text = written(random, {**pairs, "metadata.log.dir": "/fast"})
    found = attempt(ConfigError, parse_server_properties, text, read)
    same("a file with servers", type(found), ServerConfig)
    if isinstance(found, ServerConfig):
        same("the formatted voters", found.node.voters, formatted)
    same("the directories that are asked for voters", asked, ["/fast"])
    formatted = formatted[:1] if node.is_controller else (own_voter(node),)
    error = refused("voters of another role", ConfigError, parse_server_properties, text, read)
    named("voters of another role", error, SERVERS, f"node.id={node.node_id}")


def own_voter(node: DrawnNode) -> Voter:
    """Return the node as a voter."""
    return Voter(node_id=NodeId(node.node_id), host="h", port=1)


def _refuse(random: Random, node: DrawnNode) -> None:
    own = f"{node.node_id}@h:1," if node.is_controller else ""
    match random.randrange(5):
        case 0:
            value, causes = f"{own}4@h:1,4@g:2", ["4 is named twice"]
        case 1:
            value = "4@h:1" if node.is_controller else f"4@h:1,{node.node_id}@h:1"
            causes = [f"node.id={node.node_id}"]
        case 2:
            value, causes = random.choice((",", ", ,")), ["names no voter"]
        case _:
            wrong = random.choice(NO_VOTERS)
            value = random.choice((f"{own}{wrong}", f"{own}5@h:1,{wrong}"))
            is_voter = wrong.partition("@")[0] == "4" and "@" in wrong
            causes = [repr(wrong.partition("@")[2] if is_voter else wrong)]
    compare_refusal(random, {**node.pairs, VOTERS: value}, f"{VOTERS}={value}:", *causes)
