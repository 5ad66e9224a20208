"""SCRAM with scramp on both sides: proofs, replays, downgrades, and the extension for tokens."""

import base64

import pytest

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.scram import (
    ScramClientLogin,
    ScramKeys,
    ScramLogin,
    password_keys,
    token_keys,
    token_password,
)

SALT = bytes(range(16))
NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}


def server(
    mechanism: str = "SCRAM-SHA-256", nonce: str = "server-nonce", password: str = "right"
) -> ScramLogin:
    keys = password_keys(NUMBERS[mechanism], password, SALT, 4096)

    def find(user: str, is_token: bool) -> ScramKeys | None:
        return keys if user == "a,b=c" and not is_token else None

    return ScramLogin(mechanism, nonce, find)


def client(mechanism: str = "SCRAM-SHA-256", password: str = "right") -> ScramClientLogin:
    return ScramClientLogin(mechanism, "a,b=c", Secret(password))


@pytest.mark.parametrize("mechanism", NUMBERS)
def test_both_sides_prove_that_they_know_the_password(mechanism: str) -> None:
    to, by = server(mechanism), client(mechanism)
    challenge = to.receive(by.first())
    proof = by.receive(challenge)
    assert proof is not None
    assert not to.is_complete
    assert by.receive(to.receive(proof)) is None
    assert to.is_complete
    assert to.user == "a,b=c", "the name as the client has written it, unescaped"


def test_a_wrong_password_a_wrong_user_and_a_mangled_message_fail() -> None:
    for by in (client(password="wrong"), ScramClientLogin("SCRAM-SHA-256", "eve", Secret("right"))):
        to = server()
        with pytest.raises(LoginError) as caught:
            to.receive(by.receive(to.receive(by.first())) or b"")
        assert "wrong" not in str(caught.value)
        assert not to.is_complete
    for first in (
        b"",
        b"n,,",
        b"n,,n=a",
        b"\xff",
        b"n,,m=x,n=a,r=b",
        b"p=x,,n=a,r=b",
        b"n,a=x,n=a,r=b",
    ):
        with pytest.raises(LoginError):
            server().receive(first)


def test_a_recorded_login_is_no_login_later() -> None:
    by = client()
    first, to = by.first(), server(nonce="nonce-of-monday")
    proof = by.receive(to.receive(first))
    assert proof is not None
    to.receive(proof)
    assert to.is_complete
    later = server(nonce="nonce-of-tuesday")
    later.receive(first)
    with pytest.raises(LoginError):
        later.receive(proof)
    assert not later.is_complete


def test_a_proof_for_one_mechanism_is_none_for_another() -> None:
    by, strong, weak = client("SCRAM-SHA-256"), server("SCRAM-SHA-512"), server("SCRAM-SHA-256")
    first = by.first()
    proof = by.receive(weak.receive(first))
    strong.receive(first)
    with pytest.raises(LoginError):
        strong.receive(proof or b"")
    assert not strong.is_complete


def test_a_client_refuses_few_iterations_and_a_server_without_the_password() -> None:
    by = client()
    nonce = by.first().decode().rpartition("r=")[2]
    salt = base64.b64encode(SALT).decode()
    with pytest.raises(LoginError):
        by.receive(f"r={nonce}x,s={salt},i=1".encode())
    by = client()
    to = server()
    by.receive(to.receive(by.first()))
    with pytest.raises(LoginError):
        by.receive(b"v=" + base64.b64encode(bytes(32)))


def test_a_token_logs_in_with_its_hmac_and_kafkas_extension() -> None:
    secret = Secret("of-the-cluster")
    asked: list[tuple[str, bool]] = []

    def find(user: str, is_token: bool) -> ScramKeys | None:
        asked.append((user, is_token))
        return token_keys(2, secret, user) if is_token else None

    to = ScramLogin("SCRAM-SHA-512", "nonce", find)
    by = ScramClientLogin(
        "SCRAM-SHA-512", "id-1", Secret(token_password(secret, "id-1")), is_token=True
    )
    first = by.first()
    assert first.endswith(b",tokenauth=true")
    proof = by.receive(to.receive(first))
    assert by.receive(to.receive(proof or b"")) is None
    assert to.is_complete
    assert to.is_token
    assert asked == [("id-1", True)]
    stripped = ScramLogin("SCRAM-SHA-512", "nonce", find)
    with pytest.raises(LoginError):
        stripped.receive(first.replace(b",tokenauth=true", b""))
