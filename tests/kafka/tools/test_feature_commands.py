"""kafka-storage and kraft-storage print the same features of releases."""

import pytest

from kraftproof.node.tools.storage import run
from tests.kafka.java import Java

pytestmark = pytest.mark.kafka
STORAGE = "kafka.tools.StorageTool"
COMMANDS = (
    ("version-mapping",),
    ("version-mapping", "-r", "4.0-IV2"),
    (
        "feature-dependencies",
        *("-f", "metadata.version=24"),
        *("-f", "eligible.leader.replicas.version=1"),
    ),
)


def test_both_tools_print_the_same(java: Java, capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        theirs = java.output(STORAGE, *command)
        capsys.readouterr()
        assert run([*command]) == 0
        assert capsys.readouterr().out == theirs
