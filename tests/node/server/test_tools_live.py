"""kraft-cluster and kraft-metadata-shell against live nodes (631-65, 631-66, 631-99)."""

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kraftproof.node.tools import cluster
from kraftproof.node.tools.client import Client, parse_addresses
from kraftproof.node.tools.metadata_shell.main import run as shell
from kraftproof.node.wire.messages import create_topics_request
from tests.node.server.conftest import CLUSTER_ID

if TYPE_CHECKING:
    from tests.node.server.conftest import LiveCluster

    MakeCluster = Callable[[int, int], LiveCluster]


def controllers_of(live: "LiveCluster") -> str:
    (line,) = (
        line
        for line in live.nodes[0].properties.read_text().splitlines()
        if line.startswith("controller.quorum.voters=")
    )
    return line.partition("=")[2]


def create(bootstrap: str, name: str) -> None:
    topic = create_topics_request.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    with Client(parse_addresses(bootstrap)[0], 10) as client:
        answer = client.ask(create_topics_request.CreateTopicsRequest(topics=(topic,)))
    assert answer.topics[0].error_code == 0


@pytest.mark.requirement("631-65")
@pytest.mark.requirement("631-66")
@pytest.mark.requirement("631-99")
@pytest.mark.requirement("631-100")
def test_the_tools_show_a_live_cluster_and_unregister_its_broker(
    live: "MakeCluster", capsys: pytest.CaptureFixture[str]
) -> None:
    running = live(1, 1)
    broker, voters = running.bootstrap[0], controllers_of(running)
    controller = voters.partition("@")[2]
    for way in (
        ["-b", broker],
        ["--bootstrap-controller", controller],
        ["-C", f"127.0.0.1:1,{controller}"],
    ):
        assert cluster.run(["cluster-id", *way]) == 0
        assert capsys.readouterr().out == f"Cluster ID: {CLUSTER_ID}\n"
    assert cluster.run(["list-endpoints", "-b", broker]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"]
    assert row.split() == ["2", *broker.split(":"), "null", "unfenced", "broker"]
    assert cluster.run(["list-endpoints", "-C", controller]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["1", *controller.split(":")]

    seen: list[str] = []

    def lines() -> str:
        """Create a topic during the session: the shell must be live."""
        steps = ["ls /image/topics/byName", "ls /image/topics/byName", "exit"]
        if len(seen) == 1:
            create(broker, "during-the-session")
        seen.append(steps[len(seen)])
        return seen[-1]

    assert shell(["-C", voters], lines) == 0
    said = capsys.readouterr().out
    assert said.count("during-the-session") == 1
    assert shell(["-C", voters, "ls", "/image/cluster/brokers"]) == 0
    assert capsys.readouterr().out == "2\n"

    process = running.nodes[1].process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    process.wait(20)
    assert cluster.run(["unregister", "-C", controller, "-i", "2"]) == 0
    assert capsys.readouterr().out == "Broker 2 is no longer registered.\n"
    assert shell(["-C", voters, "ls", "/image/cluster/brokers"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.requirement("631-66")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["cluster-id"], "one of the arguments -b/--bootstrap-server -C/--bootstrap-controller"),
        (["cluster-id", "-b", "h:1", "-C", "h:2"], "not allowed with argument"),
        (["unregister", "-b", "h:1"], "the following arguments are required: -i/--id"),
        (["unregister", "-b", "h:1", "-i", "x"], "argument -i/--id: invalid int value: 'x'"),
        (["cluster-id", "-b", "nonsense"], "'nonsense' is no address: host:port is expected"),
        (["cluster-id", "-b", "127.0.0.1:1"], "127.0.0.1:1: Connection refused"),
        (["cluster-id", "-b", "h:1", "-c", "/no/such"], "/no/such: No such file or directory"),
    ],
)
def test_bad_usage_of_kraft_cluster_is_one_line_and_status_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = cluster.run(arguments)
    except SystemExit as end:
        status = int(str(end.code))
    captured = capsys.readouterr()
    assert status == 1
    assert words in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.requirement("631-66")
@pytest.mark.parametrize("command", [[], ["cluster-id"], ["unregister"], ["list-endpoints"]])
def test_help_is_everywhere(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cluster.run([*command, "-h"])
    assert end.value.code == 0
    assert "usage: kraft-cluster" in capsys.readouterr().out
