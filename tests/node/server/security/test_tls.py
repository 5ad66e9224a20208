"""TLS listeners of a live node: who gets in, as whom, and what each wrong certificate ends in."""

import pytest

from kraftproof.node.tools.client import ClientError
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.describe_cluster_response import (
    DescribeClusterResponse,
)
from tests.node.server.security.conftest import SecureCluster, run_tool, tls_entries


def describe(secure: SecureCluster, entries: dict[str, str]) -> DescribeClusterResponse:
    with secure.client({"security.protocol": "SSL", **entries}) as client:
        answer = client.ask(DescribeClusterRequest())
    assert isinstance(answer, DescribeClusterResponse)
    return answer


def test_mutual_tls_lets_in_exactly_the_certificates_of_the_authority(
    secure: SecureCluster,
) -> None:
    files = secure.certificates
    secure.add(1, protocol="SSL", controller_protocol="SSL", ssl_client_auth="required")
    secure.start()
    good = tls_entries(files.client, files.truststore)
    answer = describe(secure, good)
    assert [broker.port for broker in answer.brokers] == [secure.nodes[0].port]
    with pytest.raises(ClientError, match=r"self-signed|unable to get local issuer"):
        describe(secure, tls_entries(files.client, files.foreign_truststore))
    for refused in (files.foreign, files.expired):
        with pytest.raises(ClientError):
            describe(secure, tls_entries(refused, files.truststore))
    without = secure.trusting({})
    with pytest.raises(ClientError):
        describe(secure, without)
    assert describe(secure, good).cluster_id, "the refused clients harmed nobody"
    controller = secure.nodes[0].properties.read_text().partition("CONTROLLER://")[2].split("\n")[0]
    config = secure.folder / "client.properties"
    pairs = {"security.protocol": "SSL", **good}
    config.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
    for option, address in (
        ("--bootstrap-server", secure.bootstrap),
        ("--bootstrap-controller", controller),
    ):
        told = run_tool(
            "metadata_quorum",
            *(option, address, "--command-config", str(config), "describe", "--status"),
        )
        assert told.returncode == 0, told.stderr
        assert "LeaderId:" in told.stdout
    assert "Traceback" not in secure.nodes[0].output


@pytest.mark.parametrize("store", ["expired", "other_host", "foreign"])
def test_a_client_refuses_a_node_with_a_wrong_certificate(
    secure: SecureCluster, store: str
) -> None:
    files = secure.certificates
    location = {"listener.name.clients.ssl.keystore.location": str(getattr(files, store))}
    secure.add(1, protocol="SSL", controller_protocol="PLAINTEXT")
    text = secure.nodes[0].properties.read_text()
    secure.nodes[0].properties.write_text(
        text + "".join(f"{key}={value}\n" for key, value in location.items())
    )
    secure.start()
    with pytest.raises(ClientError, match=r"certificate verify failed|mismatch|not valid"):
        describe(secure, secure.trusting({}))
    if store == "other_host":
        unchecked = {"ssl.endpoint.identification.algorithm": ""}
        assert describe(secure, secure.trusting(unchecked)).cluster_id
