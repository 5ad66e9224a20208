"""An engine that can't be used is named with its cause; docker contexts are followed."""

import hashlib
import json

import pytest

from tests.support.command import KRAFTPROOF, one_line, run, without
from tests.support.long_cases import long


@pytest.mark.parametrize(
    ("host", "cause"),
    [
        long("foo", "Invalid bind address format"),
        ("unix:///no/such.sock", "No such file or directory"),
        long("tcp://127.0.0.1:1", "Connection refused"),
        long("tcp://127.0.0.1:99999", "Port out of range"),
        ("ssh://nobody@127.0.0.1:1", "Unable to connect to port 1 on 127.0.0.1"),
    ],
)
def test_a_docker_host_that_cant_be_used_is_named_with_its_cause(host, cause):
    line = one_line(run(KRAFTPROOF, "sweep", environment={"DOCKER_HOST": host}), 3)
    assert line.startswith(f"kraftproof: docker: DOCKER_HOST={host} can't be used: ")
    assert cause in line


@pytest.fixture
def contexts(tmp_path):
    """The environment of a user whose current docker context is `away`, which nobody serves."""
    folder = tmp_path / "contexts" / "meta" / hashlib.sha256(b"away").hexdigest()
    folder.mkdir(parents=True)
    endpoint = {"Host": f"unix://{tmp_path}/away.sock", "SkipTLSVerify": False}
    meta = {"Name": "away", "Metadata": {}, "Endpoints": {"docker": endpoint}}
    (folder / "meta.json").write_text(json.dumps(meta))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "away"}))
    return {"DOCKER_CONFIG": str(tmp_path), "DOCKER_HOST": "", "DOCKER_CONTEXT": ""}


@pytest.mark.long
def test_a_context_over_ssh_says_what_is_missing(contexts, tmp_path):
    (meta,) = tmp_path.glob("contexts/meta/*/meta.json")
    meta.write_text(meta.read_text().replace("unix://", "ssh://"))
    for named in ("", "away"):
        environment = contexts | {"DOCKER_CONTEXT": named} | without(tmp_path, "paramiko")
        line = one_line(run(KRAFTPROOF, "sweep", environment=environment), 3)
        assert "the context 'away' can't be used: ssh:// needs the extra ssh: pip install" in line


def test_the_current_context_is_where_leftovers_are_looked_for(contexts):
    line = one_line(run(KRAFTPROOF, "sweep", environment=contexts), 3)
    assert line == (
        "kraftproof: docker: the context 'away' can't be used: No such file or directory"
    )


def test_a_context_that_is_not_there_is_named(contexts):
    environment = contexts | {"DOCKER_CONTEXT": "nowhere"}
    line = one_line(run(KRAFTPROOF, "sweep", environment=environment), 3)
    assert (
        line == "kraftproof: docker: the context 'nowhere' can't be used: there is no such context"
    )
