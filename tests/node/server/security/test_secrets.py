"""No planted secret is in the output, the files or the answers of a cluster that uses them all."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kraftproof.node.tools.client import ClientError
from kraftproof.node.wire.codec import encode_response
from kraftproof.node.wire.messages import create_delegation_token_request as create
from kraftproof.node.wire.messages import describe_configs_request as describe
from kraftproof.node.wire.messages import describe_user_scram_credentials_request as describe_scram
from tests.node.server.security.conftest import (
    ADMIN_PASSWORD,
    ALICE_PASSWORD,
    SecureCluster,
    run_tool,
    sasl_entries,
)
from tests.node.server.security.test_credentials import (
    SCRAM_PASSWORD,
    TOKEN_SECRET,
    change,
    soon,
    token_entries,
    upsertion,
)

KEY_PASSWORD = "key-secret-2b2b"
CONFIGURATIONS = frozenset({"server.properties", "client.properties"})
BROKER = 4


def found(folder: Path, planted: list[bytes]) -> list[str]:
    """The files, but for configurations, that hold a planted secret."""
    return [
        f"{path.name}: {secret[:12]!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in CONFIGURATIONS
        for secret in planted
        if secret in path.read_bytes()
    ]


def test_a_planted_secret_is_found_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_bytes(b"password=" + ALICE_PASSWORD.encode())
    assert found(tmp_path, [ALICE_PASSWORD.encode()])


def test_secrets_are_in_no_log_answer_or_file(secure: SecureCluster) -> None:
    secure.add(1, delegation_token_secret_key=TOKEN_SECRET, ssl_key_password=KEY_PASSWORD)
    node = secure.nodes[0]
    secure.start()
    entries = secure.trusting(sasl_entries("SASL_SSL", "admin", ADMIN_PASSWORD))
    salted = upsertion("sam", 1, SCRAM_PASSWORD)
    answers: list[bytes] = []
    with secure.client(entries) as admin:
        assert change(admin, upsertions=(salted,)) == [0]
        bad = replace(salted, mechanism=7)
        assert change(admin, upsertions=(bad,)) != [0]
        made = admin.ask(create.CreateDelegationTokenRequest())
        hmac, token_id = made.hmac, made.token_id  # type: ignore[attr-defined]
        resource = describe.DescribeConfigsResource(resource_type=BROKER, resource_name="1")
        asked = (
            (describe.DescribeConfigsRequest(resources=(resource,), include_synonyms=True), 4),
            (describe_scram.DescribeUserScramCredentialsRequest(users=None), 0),
        )
        for request, version in asked:
            answers.append(encode_response(admin.ask(request, version), version))
    assert b"jaas" in answers[0], "the configurations with secrets are described, without values"
    scram = sasl_entries("SASL_SSL", "sam", SCRAM_PASSWORD, "SCRAM-SHA-256")
    assert soon(secure, scram, 0, wanted=True)
    assert soon(secure, token_entries(token_id, hmac), 0, wanted=True)
    with pytest.raises(ClientError) as caught:
        secure.client(secure.trusting(sasl_entries("SASL_SSL", "alice", "wrong-secret-11")))
    answers.append(str(caught.value).encode())
    config = secure.folder / "client.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
    told = run_tool(
        "metadata_quorum",
        *("--bootstrap-server", secure.bootstrap, "--command-config", str(config)),
        *("describe", "--status"),
    )
    assert told.returncode == 0, told.stderr
    assert node.process is not None
    node.process.terminate()
    node.process.wait(20)
    key = secure.certificates.node.read_text().partition("PRIVATE KEY-----")[2][40:100]
    texts = [
        *(ADMIN_PASSWORD, ALICE_PASSWORD, SCRAM_PASSWORD, TOKEN_SECRET, KEY_PASSWORD),
        *("wrong-secret-11", key.strip().splitlines()[0]),
    ]
    planted = [text.encode() for text in texts] + [salted.salted_password, hmac]
    assert found(secure.folder, planted) == []
    shown = told.stdout.encode() + told.stderr.encode() + b"".join(answers)
    assert [secret for secret in planted if secret in shown] == []
