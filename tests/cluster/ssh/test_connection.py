"""The watchdog of a connection, against a real ssh server that hangs, floods and drops."""

import asyncio
import io
import socket
import time

import paramiko
import pytest

from kraftproof.cluster.ssh import connection as watched
from kraftproof.cluster.ssh.connection import Connection
from kraftproof.cluster.ssh.login import SshError
from tests.cluster.ssh.server import LARGE, server

SOON_S = 1.0
"""Deadline of a call that never ends by itself."""
LATE_S = 15.0
"""More than a loaded machine needs, and less than the usual deadline of a call."""


@pytest.fixture
def ssh(tmp_path):
    with server(tmp_path) as made:
        yield made


def run(entry, *commands, **keywords):
    """Run commands one after the other over one connection; return results or errors."""

    async def whole():
        connection = Connection(entry)
        found = []
        for command in commands:
            try:
                found.append(await connection.run(command, **keywords))
            except SshError as error:
                found.append(str(error))
        connection.close()
        return found, connection.logins

    return asyncio.run(whole())


def test_status_and_both_outputs_come_back(ssh):
    _, entry = ssh
    (both, fail), logins = run(entry, "both", "fail")
    assert both.status == 0
    assert sorted(both.output.split()) == [b"err", b"out"]
    assert fail.status == 7
    assert logins == 1


def test_an_output_larger_than_the_windows_on_both_streams_comes_whole(ssh):
    _, entry = ssh
    (large,), _ = run(entry, "large")
    assert (large.output.count(b"o"), large.output.count(b"e")) == (LARGE, LARGE)


def test_a_large_input_is_sent_whole_from_memory_and_from_a_file(ssh):
    _, entry = ssh
    (of_memory,), _ = run(entry, "count", stdin=b"x" * LARGE)
    (of_file,), _ = run(entry, "count", stdin=io.BytesIO(b"x" * LARGE))
    assert of_memory.output == of_file.output == str(LARGE).encode()


@pytest.mark.parametrize("command", ["hang", "never answered"])
def test_a_call_that_hangs_ends_by_its_deadline_and_the_next_logs_in_again(ssh, command):
    made, entry = ssh
    begun = time.monotonic()
    (hung, after), logins = run(entry, command, "both", deadline_s=SOON_S)
    assert time.monotonic() - begun < LATE_S
    assert f"host alpha: no answer in 1 s to '{command}'; the connection was closed" == hung
    assert after.status == 0
    assert logins == made.connections == 2


def test_a_channel_that_never_opens_ends_by_its_deadline(ssh):
    made, entry = ssh
    made.refuses_channels = True
    begun = time.monotonic()
    (refused,), _ = run(entry, "both", deadline_s=SOON_S)
    assert time.monotonic() - begun < LATE_S
    assert refused.startswith("host alpha: ")
    assert made.commands == []


def test_a_flood_ends_at_a_bound_and_the_connection_is_replaced(ssh, monkeypatch):
    made, entry = ssh
    monkeypatch.setattr(watched, "OUTPUT_BYTES", 1 << 20)
    (flooded, after), _ = run(entry, "flood", "both", deadline_s=20)
    assert flooded == "host alpha: a command printed over 1 MiB"
    assert after.status == 0
    assert made.connections == 2


def test_a_flood_into_a_sink_ends_by_its_deadline(ssh):
    _, entry = ssh

    class Nowhere:
        def write(self, data):
            del data

    (flooded,), _ = run(entry, "flood", deadline_s=SOON_S, sink=Nowhere())
    assert "no answer in 1 s" in flooded


@pytest.mark.parametrize("command", ["drop", "drop at once", "no status"])
def test_a_command_that_may_have_run_is_not_sent_again(ssh, command):
    made, entry = ssh
    (dropped, after), _ = run(entry, command, "both")
    assert dropped.startswith("host alpha: the connection was lost")
    assert after.status == 0
    assert made.commands == [command, "both"]


def test_a_repeatable_command_is_sent_once_more(ssh):
    made, entry = ssh
    (dropped,), logins = run(entry, "drop", is_repeatable=True)
    assert dropped.startswith("host alpha: the connection was lost")
    assert made.commands == ["drop", "drop"]
    assert logins == 2


def test_a_transport_that_died_meanwhile_is_replaced_before_the_command(ssh):
    made, entry = ssh

    async def whole():
        connection = Connection(entry)
        await connection.run("both")
        for transport in made.transports:
            transport.close()
        await asyncio.sleep(0.2)
        done = await connection.run("both")
        connection.close()
        return done

    assert asyncio.run(whole()).status == 0
    assert made.connections == 2


def test_calls_side_by_side_share_one_login(ssh):
    made, entry = ssh

    async def whole():
        connection = Connection(entry)
        found = await asyncio.gather(*(connection.run("both") for _ in range(12)))
        connection.close()
        return found

    assert {done.status for done in asyncio.run(whole())} == {0}
    assert made.connections == 1


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH_9.9\r\n", b"SSH-2.0-Op"])
def test_a_server_that_hangs_after_its_first_bytes_is_one_clear_line(ssh, monkeypatch, said):
    made, entry = ssh
    made.mute = said
    monkeypatch.setattr("kraftproof.cluster.ssh.login.CONNECT_S", SOON_S)
    (refused,), _ = run(entry, "both")
    place = f"127.0.0.1:{made.port}"
    assert refused == f"host alpha: {place} does not answer as an ssh server in 1 s"


def test_another_key_of_the_host_is_refused_before_the_login(ssh):
    made, entry = ssh
    told = "SHA256:" + "a" * 43
    (refused,), _ = run(made.entry(entry.key, fingerprint=told), "both")
    assert refused.startswith("host alpha: the host has another key: SHA256:")
    assert f"not {told}: another machine answers there, or the key was changed" in refused


def known_hosts(folder, made, key):
    path = folder / "known_hosts"
    path.write_text(f"[127.0.0.1]:{made.port} {key.get_name()} {key.get_base64()}\n")
    return {"fingerprint": "", "known_hosts": str(path)}


def test_known_hosts_have_the_key_or_another_or_none(ssh, tmp_path):
    made, entry = ssh
    own = known_hosts(tmp_path, made, made.host_key)
    (done,), _ = run(made.entry(entry.key, **own), "both")
    assert done.status == 0
    other = known_hosts(tmp_path, made, paramiko.ECDSAKey.generate(bits=256))
    (refused,), _ = run(made.entry(entry.key, **other), "both")
    assert "the host has another key" in refused
    (tmp_path / "known_hosts").write_text("")
    (unknown,), _ = run(made.entry(entry.key, **other), "both")
    assert "compare the key, then give fingerprint in the file of hosts" in unknown


def test_a_refused_login_names_key_and_user(ssh, tmp_path):
    made, _ = ssh
    path = tmp_path / "other"
    paramiko.ECDSAKey.generate(bits=256).write_private_key_file(str(path))
    (refused,), _ = run(made.entry(str(path)), "both")
    place = f"127.0.0.1:{made.port}"
    assert refused == f"host alpha: {place} refuses the key {path} for the user kraft"


def test_a_key_with_a_passphrase_names_the_way_out(ssh, tmp_path):
    made, _ = ssh
    path = tmp_path / "locked"
    paramiko.ECDSAKey.generate(bits=256).write_private_key_file(str(path), password="secret")
    (refused,), _ = run(made.entry(str(path)), "both")
    assert "has a passphrase: add it to an agent, and give no key" in refused


def test_a_file_without_a_key_is_one_clear_line(ssh, tmp_path):
    made, _ = ssh
    path = tmp_path / "text"
    path.write_text("no key")
    (refused,), _ = run(made.entry(str(path)), "both")
    assert refused == f"host alpha: the key {path} is no private key"


def test_a_port_where_nobody_listens_is_one_clear_line(ssh):
    made, entry = ssh
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (refused,), _ = run(made.entry(entry.key, port=port), "both")
    assert refused == f"host alpha: 127.0.0.1:{port} can't be reached: Connection refused"
