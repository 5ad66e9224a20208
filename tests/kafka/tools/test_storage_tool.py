"""kafka-storage and kraft-storage format alike, and each system starts what the other formatted."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftproof.cluster.local import ports
from kraftproof.node.tools.storage import run
from tests.kafka.java import Java, end
from tests.kafka.systems import has_broker, kafka_properties, until

pytestmark = pytest.mark.kafka
STORAGE = "kafka.tools.StorageTool"
CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
DIRECTORY_ID = "JEXY6aqzQY-32P5TStzaFg"
READY_SECONDS = 60
FORMATS = (
    ("-r", "4.0", "-f", "group.version=0", "--standalone"),
    ("-r", "4.3-IV0", "-I", f"1@127.0.0.1:9093:{DIRECTORY_ID},3@h:9094:MvDxzVmcRsaTz33bUuRU6A"),
    ("--release-version", "3.7.1", "--no-initial-controllers"),
    ("-N", "-f", "metadata.version=22", "-f", "eligible.leader.replicas.version=1"),
    ("-s", "-r", "3.2"),
    ("-s", "-f", "kraft.version=0"),
    (),
)
Place = tuple[Path, str]


def formatted(run_tool: Callable[..., tuple[int, str, str]], home: Path, options: tuple[str, ...]):
    """Return status, output and the names of files of a formatting, without random ids."""
    home.mkdir()
    properties = home / "server.properties"
    properties.write_text(kafka_properties(home / "data", "127.0.0.1:9092", "127.0.0.1:9093"))
    status, out, error = run_tool("format", "-t", CLUSTER_ID, "-c", str(properties), *options)
    files = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    # Kafka's tool prints a stack trace where its message is below an exception's name.
    reason = error.partition("Exception: ")[2] or error
    reason = reason.removeprefix("kraft-storage: ").splitlines()[0] if reason else ""
    return status, out.replace(str(home), ""), reason, files


def test_both_tools_format_alike(
    java: Java, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def theirs(*arguments: str) -> tuple[int, str, str]:
        done = java.run(STORAGE, *arguments)
        return done.returncode, done.stdout, done.stderr

    def ours(*arguments: str) -> tuple[int, str, str]:
        status = run([*arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    capsys.readouterr()
    for number, options in enumerate(FORMATS):
        kafka = formatted(theirs, tmp_path / f"kafka{number}", options)
        assert formatted(ours, tmp_path / f"ours{number}", options) == kafka, options


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A directory with the properties of one combined node, and the address of its broker."""
    lease = ports.lease(tmp_path.name, tmp_path, 2)
    broker, controller = (f"127.0.0.1:{port}" for port in lease.ports)
    text = kafka_properties(tmp_path / "data", broker, controller)
    (tmp_path / "server.properties").write_text(text)
    yield tmp_path, broker
    ports.release(lease)


def becomes_ready(command: list[str], place: Place) -> None:
    directory, broker = place
    with (directory / "output.log").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        assert until(lambda: has_broker(broker), READY_SECONDS), (
            directory / "output.log"
        ).read_text()
    finally:
        end(process)


def format_arguments(place: Place) -> tuple[str, ...]:
    properties = str(place[0] / "server.properties")
    return ("format", "--standalone", "-t", CLUSTER_ID, "-c", properties, "-r", "4.3")


def test_our_node_starts_what_kafka_formatted(java: Java, place: Place) -> None:
    java.output(STORAGE, *format_arguments(place))
    properties = str(place[0] / "server.properties")
    becomes_ready([sys.executable, "-m", "kraftproof.node.server.main", properties], place)
    said = (place[0] / "output.log").read_text()
    assert "group.version, share.version, streams.version, transaction.version: the level" in said


def test_kafka_starts_what_we_formatted(java: Java, place: Place) -> None:
    credential = ("-S", "SCRAM-SHA-256=[name=alice,password=alice-secret]")
    assert run([*format_arguments(place), *credential]) == 0
    becomes_ready(java.command("kafka.Kafka", str(place[0] / "server.properties")), place)
