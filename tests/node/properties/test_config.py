"""server.properties: what it means, and one clear line for everything that is wrong in it."""

import pytest

from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.properties.config import (
    ServerConfig,
    parse_hosts,
    parse_server_properties,
)
from kraftproof.node.properties.formatting import read_format_config
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.wire.types import Uuid

COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@host-1:9093,2@host-2:9093,3@host-3:9093",
    "listeners": "PLAINTEXT://0.0.0.0:9092,CONTROLLER://10.0.0.1:9093",
    "advertised.listeners": "PLAINTEXT://host-1:9092",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/data/a,/data/b",
}


def parse(changes: dict[str, str | None] | None = None) -> ServerConfig:
    pairs = {**COMBINED, **(changes or {})}
    lines = [f"{key}={value}" for key, value in pairs.items() if value is not None]
    return parse_server_properties("# a comment\n\n" + "\n".join(lines))


@pytest.mark.requirement("631-01")
@pytest.mark.requirement("631-77")
@pytest.mark.requirement("631-79")
def test_a_combined_node() -> None:
    config = parse()
    node = config.node
    assert (node.is_broker, node.is_controller, node.node_id) == (True, True, 1)
    assert [(voter.node_id, voter.host, voter.port) for voter in node.voters] == [
        (1, "host-1", 9093),
        (2, "host-2", 9093),
        (3, "host-3", 9093),
    ]
    assert node.endpoints == (
        Endpoint(name="PLAINTEXT", host="host-1", port=9092, is_controller=False),
        Endpoint(name="CONTROLLER", host="10.0.0.1", port=9093, is_controller=True),
    )
    assert [(b.name, b.host, b.port) for b in config.bindings] == [
        ("PLAINTEXT", "0.0.0.0", 9092),
        ("CONTROLLER", "10.0.0.1", 9093),
    ]
    assert config.storage.metadata_directory == "/data/a"
    assert config.storage.directories == ("/data/a", "/data/b")
    assert (node.default_partitions, node.default_replication_factor) == (1, 1)


@pytest.mark.requirement("631-08")
def test_the_metadata_log_has_a_directory_of_its_own_if_it_is_named() -> None:
    config = parse({"metadata.log.dir": "/fast"})
    assert config.storage.metadata_directory == "/fast"
    assert config.storage.directories == ("/fast", "/data/a", "/data/b")


def test_the_core_is_told_cluster_and_incarnation() -> None:
    node = parse({"broker.rack": "east"}).node_config(
        cluster_id="c",
        incarnation=Uuid(b"i" * 16),
    )
    assert (node.cluster_id, node.incarnation, node.rack) == ("c", b"i" * 16, "east")


def test_a_broker_only_node() -> None:
    config = parse(
        {
            "process.roles": "broker",
            "node.id": "4",
            "broker.id": "4",
            "listeners": "PLAINTEXT://10.0.0.4:9092",
            "advertised.listeners": None,
        }
    )
    assert [endpoint.is_controller for endpoint in config.node.endpoints] == [False]


def test_formatting_needs_but_the_id_and_the_directories() -> None:
    config = read_format_config("node.id=3\nlog.dirs=/x")
    assert (config.node_id, config.directories, config.has_static_voters) == (3, ("/x",), True)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (
            {"log.dir.s": "x"},
            "log.dir.s: unknown configuration key; did you mean log.dirs or log.dir?",
        ),
        ({"zzz": "x"}, "zzz: unknown configuration key; remove it"),
        (
            {"min.insync.replicas": "0"},
            "min.insync.replicas=0: is not valid, a value of type INT from 1 is expected",
        ),
        (
            {"replica.lag.time.max.ms": "0"},
            "replica.lag.time.max.ms=0: is not valid, a whole number from 1 to 2147483647",
        ),
        ({"process.roles": None}, "process.roles: is missing"),
        ({"process.roles": ""}, "process.roles: is missing"),
        ({"process.roles": "broker,zookeeper"}, "process.roles=broker,zookeeper: is not valid"),
        ({"process.roles": "broker,broker"}, "process.roles=broker,broker: is not valid"),
        ({"node.id": None}, "node.id: is missing"),
        ({"node.id": "one"}, "node.id=one: is not valid, a whole number from 0"),
        ({"node.id": "-1"}, "node.id=-1: is not valid"),
        ({"node.id": "2147483648"}, "node.id=2147483648: is not valid"),
        ({"broker.id": "2"}, "broker.id=2: differs from node.id=1"),
        ({"controller.quorum.voters": None}, "controller.quorum.voters: is missing"),
        ({"controller.quorum.voters": "1:h:9"}, "'1:h:9' is not id@host:port"),
        ({"controller.quorum.voters": "1@h"}, "'h' is not host:port"),
        ({"controller.quorum.voters": "1@h:99999"}, "'h:99999' is not host:port"),
        ({"controller.quorum.voters": "1@h:1,1@h:2"}, "voter 1 is named twice"),
        ({"controller.quorum.voters": "2@h:1"}, "lacks this controller, node.id=1"),
        (
            {"process.roles": "broker", "listeners": "PLAINTEXT://h:1"},
            "node.id=1 is a broker only",
        ),
        ({"listeners": None}, "listeners: is missing"),
        ({"listeners": "h:1"}, "'h:1' is not NAME://host:port"),
        ({"listeners": "A://h:1,A://h:2"}, "A is named twice"),
        ({"listeners": "PLAINTEXT://h:1"}, "CONTROLLER is not among listeners"),
        ({"listeners": "CONTROLLER://h:1"}, "a broker needs a listener that is no controller's"),
        (
            {"process.roles": "controller"},
            "a controller binds only controller.listener.names=CONTROLLER",
        ),
        (
            {"process.roles": "broker", "node.id": "9"},
            "a broker must not bind a controller listener",
        ),
        ({"controller.listener.names": None}, "controller.listener.names: is missing"),
        ({"advertised.listeners": "OTHER://h:1"}, "OTHER is not among listeners"),
        ({"advertised.listeners": None}, "advertised.listeners must name"),
        ({"inter.broker.listener.name": "X"}, "inter.broker.listener.name=X"),
        (
            {"listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT"},
            "ssl.keystore.location: is missing",
        ),
        ({"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"}, "add CONTROLLER:PLAINTEXT"),
        ({"listener.security.protocol.map": "x"}, "'x' is not NAME:PROTOCOL"),
        (
            {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"},
            "sasl.enabled.mechanisms=GSSAPI: is not supported",
        ),
        ({"log.dirs": None}, "log.dirs: is missing"),
        ({"broker.session.timeout.ms": "soon"}, "broker.session.timeout.ms=soon: is not valid"),
        ({"broker.session.timeout.ms": "0"}, "broker.session.timeout.ms=0: is not valid"),
        ({"num.partitions": "0"}, "num.partitions=0"),
        ({"num.partitions": "1_000"}, "num.partitions=1_000: is not valid, a whole number"),
        ({"default.replication.factor": "40000"}, "default.replication.factor=40000"),
        ({"metadata.log.segment.bytes": "1"}, "metadata.log.segment.bytes=1"),
        ({"socket.request.max.bytes": "x"}, "socket.request.max.bytes=x"),
    ],
)
@pytest.mark.requirement("631-01")
@pytest.mark.requirement("631-77")
@pytest.mark.requirement("631-79")
@pytest.mark.requirement("631-80")
def test_each_mistake_is_one_line_that_names_key_and_value(
    changes: dict[str, str | None], named: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(changes)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.requirement("631-78")
def test_the_mechanism_towards_controllers_is_kafkas_default_unless_set() -> None:
    protocols = "PLAINTEXT:PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"
    changes: dict[str, str | None] = {
        "listener.security.protocol.map": protocols,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.controller.plain.sasl.jaas.config": (
            'PlainLoginModule required username="n" password="p" user_n="p";'
        ),
        "listener.name.controller.scram-sha-512.sasl.jaas.config": (
            'ScramLoginModule required username="s" password="q";'
        ),
    }
    with pytest.raises(ConfigError, match=r"sasl\.mechanism\.controller\.protocol=GSSAPI"):
        parse(changes)
    for mechanism, user in (("PLAIN", "n"), ("SCRAM-SHA-512", "s")):
        login = parse(
            {**changes, "sasl.mechanism.controller.protocol": mechanism}
        ).controller_peers.login
        assert login is not None
        assert (login.mechanism, login.username) == (mechanism, user)


@pytest.mark.requirement("631-84")
@pytest.mark.parametrize(
    "key",
    ["control.plane.listener.name", "broker.id.generation.enable", "zookeeper.connect"],
)
def test_keys_of_zookeeper_days_are_refused_by_name(key: str) -> None:
    with pytest.raises(ConfigError, match=f"^{key}=x: is not supported with KRaft"):
        parse({key: "x"})


def test_a_hosts_file_gives_each_name_its_address() -> None:
    hosts = parse_hosts("# peers\n127.2.1.2 host-2 h2\n\n127.2.1.3\thost-3 # third\n")
    assert hosts == {"host-2": "127.2.1.2", "h2": "127.2.1.2", "host-3": "127.2.1.3"}
    with pytest.raises(ConfigError, match="line 1"):
        parse_hosts("127.0.0.1\n")


@pytest.mark.requirement("595-01")
@pytest.mark.parametrize(
    "value", ["1@host-1:9093,2@host-2:9093", " 1@host-1:9093 ,  2@host-2:9093 ,"]
)
def test_voters_may_stand_apart(value: str) -> None:
    voters = parse({"controller.quorum.voters": value}).node.voters
    assert [(voter.node_id, voter.host, voter.port) for voter in voters] == [
        (1, "host-1", 9093),
        (2, "host-2", 9093),
    ]


@pytest.mark.requirement("595-01")
@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("1", "'1' is not id@host:port"),
        ("host-1:9093", "'host-1:9093' is not id@host:port"),
        ("1:host-1:9093", "'1:host-1:9093' is not id@host:port"),
        ("@host-1:9093", "'@host-1:9093' is not id@host:port"),
        ("one@host-1:9093", "'one@host-1:9093' is not id@host:port"),
        ("-1@host-1:9093", "'-1@host-1:9093' is not id@host:port"),
        ("1.5@host-1:9093", "'1.5@host-1:9093' is not id@host:port"),
        ("2147483648@host-1:9093", "'2147483648@host-1:9093' is not id@host:port"),
        ("1@host-1:9093;2@host-2:9093", "is not host:port"),
        ("1@", "'' is not host:port"),
        ("1@host-1", "'host-1' is not host:port"),
        ("1@:9093", "':9093' is not host:port"),
        ("1@host-1:", "'host-1:' is not host:port"),
        ("1@host-1:0", "'host-1:0' is not host:port"),
        ("1@host-1:65536", "'host-1:65536' is not host:port"),
        ("1@host-1:-1", "'host-1:-1' is not host:port"),
        ("1@host-1:http", "'host-1:http' is not host:port"),
        ("1@host 1:9093", "'host 1:9093' is not host:port"),
        ("1@a:9093,2@b:9093,1@c:9093", "voter 1 is named twice"),
        ("1@a:9093,01@c:9093", "voter 01 is named twice"),
        ("2@host-2:9093,3@host-3:9093", "lacks this controller, node.id=1"),
        (",", "names no voter"),
    ],
)
def test_each_bad_spelling_of_the_voters_is_one_line(value: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"controller.quorum.voters": value})
    message = str(caught.value)
    assert message.startswith("controller.quorum.voters")
    assert named in message
    assert "\n" not in message


def test_figures_are_served_only_where_asked_for() -> None:
    assert parse().metrics_address is None
    assert parse({"metrics.listener": "127.0.0.1:9404"}).metrics_address == ("127.0.0.1", 9404)
    with pytest.raises(ConfigError, match=r"^metrics\.listener=9404: '9404' is not host:port$"):
        parse({"metrics.listener": "9404"})
