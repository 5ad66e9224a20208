"""kafka-metadata-quorum and kraft-metadata-quorum: either tool, either system, the same answer."""

import re

import pytest

from kraftproof.node.tools import metadata_quorum
from tests.kafka.java import Java
from tests.kafka.systems import Ours, Running

pytestmark = [pytest.mark.kafka, pytest.mark.requirement("595-66")]
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
MOVING = re.compile(
    r"^((?:HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs):\s+)\d+$", re.MULTILINE
)
SYSTEMS = pytest.mark.parametrize("system", ["ours", "real"])
ROUTES = pytest.mark.parametrize("route", ["--bootstrap-server", "--bootstrap-controller"])


@pytest.fixture
def running(system: str, request: pytest.FixtureRequest) -> Running:
    found = request.getfixturevalue(system)
    assert isinstance(found, Running)
    return found


def connection(running: Running, route: str) -> tuple[str, str]:
    return route, running.brokers if route == "--bootstrap-server" else running.controllers


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert metadata_quorum.run([*arguments]) == 0
    return capsys.readouterr().out


def table(text: str) -> list[list[str]]:
    """The cells of the table: what does not move, and whether the rest are numbers."""
    rows = [[cell.strip() for cell in line.split("\t")] for line in text.splitlines()]
    assert all(len(row) == 8 and not row[-1] for row in rows)
    for row in rows[1:]:
        assert all(re.fullmatch(r"-?\d+(?: ms ago)?", cell) for cell in row[2:6]), row
    return [row[:2] + row[6:] for row in rows]


@SYSTEMS
@ROUTES
def test_status_is_what_kafkas_tool_prints(
    running: Running, route: str, java: Java, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (*connection(running, route), "describe", "--status")
    theirs = java.output(QUORUM, *arguments)
    ours = printed(capsys, *arguments)
    assert len(MOVING.findall(theirs)) == 3
    assert MOVING.sub(r"\1N", ours) == MOVING.sub(r"\1N", theirs)


@SYSTEMS
@pytest.mark.parametrize("extra", [(), ("--human-readable",)], ids=["times", "human"])
def test_replication_is_what_kafkas_tool_prints(
    running: Running, extra: tuple[str, ...], java: Java, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (
        *connection(running, "--bootstrap-controller"),
        "describe",
        "--replication",
        *extra,
    )
    theirs = table(java.output(QUORUM, *arguments))
    assert table(printed(capsys, *arguments)) == theirs


@pytest.mark.requirement("595-64")
def test_kafkas_tool_sees_every_voter_and_the_brokers_as_observers(ours: Ours, java: Java) -> None:
    arguments = ("--bootstrap-server", ours.brokers, "describe", "--replication")
    _, leader, *others = table(java.output(QUORUM, *arguments))
    assert leader[2] == "Leader"
    assert {int(leader[0])} | {int(row[0]) for row in others} == {1, 2, 3, 4, 5}
    assert [row[2] for row in others] == ["Follower"] * 2 + ["Observer"] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--bootstrap-server", "127.0.0.1:1", "describe", "--status", "--replication"),
        ("--bootstrap-server", "127.0.0.1:1", "describe"),
        ("describe", "--status"),
    ],
)
def test_both_tools_refuse_the_same_misuse(arguments: tuple[str, ...], java: Java) -> None:
    assert java.run(QUORUM, *arguments).returncode == 1
    with pytest.raises(SystemExit) as caught:
        metadata_quorum.run([*arguments])
    assert caught.value.code == 1
