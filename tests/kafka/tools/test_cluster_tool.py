"""kafka-cluster and kraft-cluster: either tool, either system, the same answer."""

import pytest

from kraftproof.node.tools import cluster
from tests.kafka.java import Java
from tests.kafka.systems import Running

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.requirement("631-65"),
    pytest.mark.requirement("631-66"),
]
CLUSTER = "org.apache.kafka.tools.ClusterTool"


@pytest.mark.parametrize("system", ["ours", "real"])
def test_both_tools_print_the_same(
    system: str,
    request: pytest.FixtureRequest,
    java: Java,
    capsys: pytest.CaptureFixture[str],
) -> None:
    running = request.getfixturevalue(system)
    assert isinstance(running, Running)
    for command in ("cluster-id", "list-endpoints"):
        arguments = (command, "-b", running.brokers)
        theirs = java.output(CLUSTER, *arguments)
        capsys.readouterr()
        assert cluster.run([*arguments]) == 0
        assert capsys.readouterr().out == theirs


def test_either_tool_unregisters_a_broker_or_says_why_not(
    real: Running, java: Java, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("unregister", "-b", real.brokers, "-i", "99")
    theirs = java.run(CLUSTER, *arguments)
    assert theirs.returncode == cluster.run([*arguments]) == 1
    assert "Broker ID 99 is not currently registered" in theirs.stderr
    assert "BROKER_ID_NOT_REGISTERED" in capsys.readouterr().err
