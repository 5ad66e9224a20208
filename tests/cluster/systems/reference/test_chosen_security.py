"""Live runs with an authorizer, logins and TLS: they work, and no record has their secrets."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from kraftproof.cluster.protocol import Address, ClusterOptions, NodeInfo, nodes_of
from kraftproof.cluster.systems.deployment import Site
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.reference.certificates import Certificates
from kraftproof.cluster.systems.reference.chosen_security import (
    CLASS_KEY,
    MECHANISM_KEY,
    PASSWORD,
    PROTOCOL_KEY,
    STANDARD,
    harness_login,
    security_settings,
)
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.cluster.systems.system import SystemUnavailableError
from tests.support.long_cases import long

RUN_SECONDS = 240


def options(backend: str, **settings: str) -> ClusterOptions:
    return ClusterOptions(
        nodes=nodes_of(controller=1, broker=1),
        seed=1,
        directory=Path("x"),
        backend=backend,
        node_config=tuple(settings.items()),
    )


@pytest.mark.parametrize(
    ("backend", "key", "value", "words"),
    [
        ("local", MECHANISM_KEY, "GSSAPI", "=GSSAPI: is none of PLAIN, SCRAM-SHA-256"),
        ("local", CLASS_KEY, "example.Mine", "=example.Mine: the only authorizer is"),
        ("local", PROTOCOL_KEY, "TLS", "=TLS: is none of PLAINTEXT, SSL"),
        ("local", PROTOCOL_KEY, "SASL_SSL", "=SASL_SSL: needs sasl.enabled.mechanisms"),
        ("simulated", PROTOCOL_KEY, "SSL", "only live nodes can have that"),
        ("simulated", MECHANISM_KEY, "PLAIN", "only live nodes can have that"),
        ("simulated", CLASS_KEY, STANDARD, "only live nodes can have that"),
    ],
)
def test_what_no_node_can_have_is_refused(backend: str, key: str, value: str, words: str) -> None:
    with pytest.raises(SystemUnavailableError, match=words):
        ReferenceSystem().refuse_settings(options(backend, **{key: value}))


def test_a_workload_with_security_of_its_own_takes_no_other() -> None:
    chosen = replace(options("local", **{CLASS_KEY: STANDARD}), has_security=True)
    with pytest.raises(SystemUnavailableError, match=f"{CLASS_KEY}: the workload sets"):
        ReferenceSystem().refuse_settings(chosen)
    ReferenceSystem().refuse_settings(replace(chosen, has_security=False))
    tls = replace(chosen, node_config=((PROTOCOL_KEY, "SSL"),))
    ReferenceSystem().refuse_settings(tls)
    both = ((PROTOCOL_KEY, "SASL_SSL"), (MECHANISM_KEY, "PLAIN"))
    with pytest.raises(SystemUnavailableError, match=f"{MECHANISM_KEY}: the workload sets"):
        ReferenceSystem().refuse_settings(replace(chosen, node_config=both))


def test_logins_and_a_protocol_without_logins_exclude_each_other() -> None:
    chosen = options("local", **{MECHANISM_KEY: "PLAIN", PROTOCOL_KEY: "SSL"})
    with pytest.raises(SystemUnavailableError, match=r"=SSL: with .* take SASL_SSL"):
        ReferenceSystem().refuse_settings(chosen)


def test_the_harness_is_the_super_user_with_and_without_logins() -> None:
    alone = {CLASS_KEY: STANDARD}
    assert security_settings(alone, "CONTROLLER") == {"super.users": "User:ANONYMOUS"}
    assert harness_login(options("local", **alone)) is None
    both = {**alone, MECHANISM_KEY: "SCRAM-SHA-256"}
    assert security_settings(both, "PLAINTEXT")["super.users"] == "User:kraftproof"
    assert security_settings({}, "PLAINTEXT") == {}
    login = harness_login(options("local", **both))
    assert login is not None
    assert PASSWORD not in repr(login)


@pytest.mark.parametrize(
    ("backend", "mechanism", "protocol"),
    [
        long("local", "PLAIN", None),
        ("local", "SCRAM-SHA-512", "SASL_SSL"),
        pytest.param(
            *("docker", "SCRAM-SHA-256", "SASL_SSL"), marks=[pytest.mark.docker, pytest.mark.long]
        ),
    ],
)
def test_a_secured_run_is_valid_and_keeps_its_secrets(
    tmp_path: Path, backend: str, mechanism: str, protocol: str | None
) -> None:
    command = [sys.executable, "-m", "kraftproof", "test", "--json", "--store", str(tmp_path)]
    chosen = [f"{MECHANISM_KEY}={mechanism}", f"{CLASS_KEY}={STANDARD}"]
    chosen += [] if protocol is None else [f"{PROTOCOL_KEY}={protocol}"]
    settings = [part for entry in chosen for part in ("--node-config", entry)]
    done = subprocess.run(
        [
            *command,
            "--backend",
            backend,
            "--nodes",
            "1+1",
            "--time-limit",
            "3",
            "--nemesis",
            "none",
            *settings,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.stdout, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["verdict"] == "valid", done.stderr
    (run,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    secured = list(run.rglob("server.properties"))
    assert len(secured) == 2
    mapped = f"CONTROLLER:{protocol or 'SASL_PLAINTEXT'}"
    assert all(mapped in path.read_text() for path in secured)
    told = [path for path in run.rglob("*") if path.is_file() and path not in secured]
    assert len(told) > 5
    for secret in (PASSWORD, "PRIVATE KEY"):
        assert [path.name for path in told if secret.encode() in path.read_bytes()] == []
        assert secret not in done.stdout + done.stderr


def test_a_certificate_names_the_addresses_of_its_node_only() -> None:
    first, second = nodes_of(controller=1, broker=1)
    places = {
        node.node_id: {PORT: Address(host=f"127.0.0.{node.node_id}", port=9, peer_host=node.name)}
        for node in (first, second)
    }
    certificates = Certificates()

    def names(node: NodeInfo) -> set[str]:
        site = Site(
            node=node,
            nodes=(first, second),
            directory=Path("x"),
            python="python3",
            addresses=places,
            options=options("local", **{PROTOCOL_KEY: "SSL"}),
        )
        chain = certificates.entries(site)["ssl.keystore.certificate.chain"]
        pem = chain.replace("\\n", "\n").encode()
        told = x509.load_pem_x509_certificate(pem).extensions
        found = told.get_extension_for_class(x509.SubjectAlternativeName).value
        return {str(one.value) for one in found}

    assert names(first) == {"127.0.0.1", "controller-1"}
    assert names(second) == {"127.0.0.2", "broker-2"}
