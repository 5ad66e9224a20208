"""kraft-cluster: the client properties that it is given, without a cluster."""

import socket
import threading
from pathlib import Path

import pytest

from kraftproof.node.tools import cluster

pytestmark = [pytest.mark.requirement("631-65"), pytest.mark.requirement("631-66")]
FIRST_BYTE_OF_TLS = b"\x16"


@pytest.mark.parametrize("option", ["-c", "--command-config", "--config"])
@pytest.mark.parametrize(
    "command", [("cluster-id",), ("unregister", "--id", "3"), ("list-endpoints",)]
)
def test_absent_client_properties_are_one_line(
    command: tuple[str, ...], option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = tmp_path / "absent"
    assert cluster.run([*command, "-b", "127.0.0.1:1", option, str(absent)]) == 1
    line = f"kraft-cluster: {absent}: No such file or directory\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("option", ["--command-config", "--config"])
def test_the_connection_is_as_the_client_properties_ask(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text("security.protocol=SSL\ndefault.api.timeout.ms=20000\n")
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)

        def take() -> None:
            connection, _ = server.accept()
            with connection:
                received.append(connection.recv(1))

        taker = threading.Thread(target=take)
        taker.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert cluster.run(["cluster-id", "-b", address, option, str(properties)]) == 1
        taker.join(20)
    assert received == [FIRST_BYTE_OF_TLS]
    assert len(capsys.readouterr().err.splitlines()) == 1
