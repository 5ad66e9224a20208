"""Compare roles, ids and directories, and what the formatting of directories reads (KIP-631)."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import attempt, named, refused, same
from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.cluster.simulated.differential.properties.written_file import written
from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.properties.formatting import (
    FormatConfig,
    read_controller_endpoint,
    read_format_config,
)
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.wire.types import Uuid

PATHS: Final = ("/data/a", "/data/b", "/c d", "relative")
WRONG_ROLES: Final = ("zookeeper", "broker,broker", "broker,zookeeper", "Broker", ",", "broker;x")
WRONG_IDS: Final = ("-1", "2147483648", "x", "1.0", "1_0")
VOTERS: Final = "controller.quorum.voters"


def compare_node_identities(random: Random) -> None:
    """Read roles, ids and directories, also for the formatting, and then one that is refused.

    Raises:
        DifferenceError: a field has another value, or a value is taken or refused wrongly.
    """
    node = draw_node(random)
    pairs, fields = {**node.pairs}, {**node.fields}
    if random.random() < 0.3:
        pairs["broker.id"] = random.choice((str(node.node_id), f"0{node.node_id}", ""))
    if node.is_broker and node.is_controller and random.random() < 0.5:
        pairs["process.roles"] = random.choice(("controller,broker", "controller , broker,"))
    directories = _draw_directories(random, pairs, fields)
    compare_fields(random, pairs, fields)
    _compare_process(random, pairs)
    _compare_format(random, node, pairs, directories)
    _refuse(random, node)


def _compare_process(random: Random, pairs: dict[str, str]) -> None:
    """Compare the configuration of a process, which its directories and its start complete."""
    config = parse_server_properties(written(random, pairs))
    incarnation, epoch = Uuid(random.randbytes(16)), random.choice((-1, 5))
    if epoch < 0:
        found = config.node_config(cluster_id="c", incarnation=incarnation)
    else:
        found = config.node_config(
            cluster_id="c", incarnation=incarnation, previous_broker_epoch=epoch
        )
    added = {"cluster_id": "c", "incarnation": incarnation, "previous_broker_epoch": epoch}
    for name in found.__struct_fields__:
        expected = added.get(name, getattr(config.node, name))
        same(f"{name} of a process", getattr(found, name), expected)


def _draw_directories(
    random: Random, pairs: dict[str, str], fields: dict[str, object]
) -> tuple[str, ...]:
    """Draw log.dir, log.dirs and metadata.log.dir; log.dirs comes before log.dir."""
    listed = tuple(random.sample(PATHS, random.randint(1, 3)))
    text = random.choice((",", " ,", ", ,")).join(listed)
    del pairs["log.dirs"]
    pairs[random.choice(("log.dir", "log.dirs"))] = text
    if "log.dirs" in pairs and random.random() < 0.3:
        pairs["log.dir"] = "/not/this"
    elif "log.dir" in pairs and random.random() < 0.3:
        pairs["log.dirs"] = ""
    metadata = random.choice((None, "", "/fast", listed[-1]))
    if metadata is not None:
        pairs["metadata.log.dir"] = metadata
    every = (metadata, *(one for one in listed if one != metadata)) if metadata else listed
    fields["storage.directories"] = every
    fields["storage.metadata_directory"] = every[0]
    fields["storage.log_directories"] = listed
    return every


def _compare_format(
    random: Random, node: DrawnNode, pairs: dict[str, str], directories: tuple[str, ...]
) -> None:
    """Compare what the formatting reads: a file without roles is for static voters."""
    left = {**pairs}
    is_static, is_controller, listener = True, node.is_controller, "CONTROLLER"
    match random.randrange(4):
        case 0:
            del left["process.roles"]
            is_controller = False
        case 1:
            del left[VOTERS]
            is_static = False
        case 2:
            del left["controller.listener.names"]
        case _:
            left["controller.listener.names"] = "FIRST,SECOND"
            listener = "FIRST"
    found = attempt(ConfigError, read_format_config, written(random, left))
    expected = FormatConfig(
        node_id=NodeId(node.node_id),
        directories=directories,
        is_controller=is_controller,
        has_static_voters=is_static,
        controller_listener=listener,
    )
    same("what the formatting reads", found, expected)
    text = written(random, pairs)
    if node.is_controller:
        endpoint = attempt(ConfigError, read_controller_endpoint, text)
        host = f"host-{node.node_id}"
        own = Endpoint(name="CONTROLLER", host=host, port=9093, is_controller=True)
        same("the address of a controller", endpoint, own)
    else:
        error = refused("a broker's address", ConfigError, read_controller_endpoint, text)
        named("a broker's address", error, "listeners: ")


def _refuse(random: Random, node: DrawnNode) -> None:
    pairs = {**node.pairs}
    match random.randrange(5):
        case 0:
            key = random.choice([*pairs.keys() - {VOTERS}])
            _lose(random, pairs, key)
            compare_refusal(random, pairs, f"{key}: is missing")
        case 1:
            pairs["process.roles"] = random.choice(WRONG_ROLES)
            compare_refusal(random, pairs, f"process.roles={pairs['process.roles']}: is not valid")
        case 2:
            key = random.choice(("node.id", "broker.id"))
            pairs[key] = random.choice(WRONG_IDS)
            compare_refusal(random, pairs, f"{key}={pairs[key]}: is not valid", 0, 2_147_483_647)
        case 3:
            pairs["broker.id"] = str(node.node_id ^ 1)
            compare_refusal(
                random, pairs, f"broker.id={node.node_id ^ 1}:", f"node.id={node.node_id};"
            )
        case _:
            unknown = {**pairs, "node.idd": "3"}
            error = refused("a key", ConfigError, read_format_config, written(random, unknown))
            named("an unknown key of the formatting", error, "node.idd: unknown", "node.id")


def _lose(random: Random, pairs: dict[str, str], key: str) -> None:
    """Remove a required key, or its value."""
    if random.random() < 0.5:
        del pairs[key]
    else:
        pairs[key] = ""
