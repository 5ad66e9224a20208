"""Containers that stand for machines: each runs sshd, has an address, and a user with sudo.

`python -m tests.cluster.ssh.machines FOLDER COUNT` starts some, writes FOLDER/hosts.toml, and
removes them at Ctrl-C.
"""

import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import paramiko
from docker.models.containers import Container
from docker.types import EndpointConfig

from kraftproof.cluster.docker.engine import connect_engine
from kraftproof.cluster.docker.lease import engine_lock, lease_subnet
from kraftproof.cluster.docker.owner import labels
from kraftproof.cluster.docker.sweep import remove_run, sweep_locked
from kraftproof.cluster.remote.run_name import run_name
from kraftproof.cluster.ssh.login import fingerprint_of
from kraftproof.images.systems import packages_image

USER = "kraft"
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
LOCK_S = 300.0
LEFTOVERS = """
ps --no-headers -eo user,pid,args | grep -v -E 'docker-init|sshd|ps --no|grep|sh -c'
iptables-save | grep KRAFT
ls -d /home/kraft/.kraftproof /root/.kraftproof 2>/dev/null
ls -A /dev/shm
true
"""
SSHD = """
set -e
mkdir -p /run/sshd /home/kraft/.ssh
id kraft >/dev/null 2>&1 || useradd -M -s /bin/bash -p '*' kraft
[ -n "$NO_SUDO" ] || echo 'kraft ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/kraft
echo "$LOGIN_KEY" >/home/kraft/.ssh/authorized_keys
chown -R kraft:kraft /home/kraft
rm -f /etc/ssh/ssh_host_*
(umask 077; echo "$HOST_KEY" >/etc/ssh/ssh_host_ecdsa_key)
exec /usr/sbin/sshd -D -e
"""


@dataclass(frozen=True)
class MachineSet:
    """The machines, and how to log in."""

    folder: Path
    containers: tuple[Container, ...]
    addresses: tuple[str, ...]
    fingerprints: tuple[str, ...]

    @property
    def key(self) -> Path:
        return self.folder / "login_key"

    def write_hosts(self, name: str = "hosts.toml", *, extra: str = "", count: int = 99) -> Path:
        """Write a file of hosts, of the first `count` machines."""
        lines = ["[defaults]", f'user = "{USER}"', f'key = "{self.key}"', extra]
        found = zip(NAMES, self.addresses, self.fingerprints, strict=False)
        for host, address, fingerprint in list(found)[:count]:
            lines += ["", "[[host]]", f'name = "{host}"', f'address = "{address}"']
            lines += [f'fingerprint = "{fingerprint}"']
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def run(self, number: int, *command: str) -> str:
        """Run a command as root on a machine, not through ssh; return what it prints."""
        return str(self.containers[number].exec_run(list(command)).output.decode())

    def leftovers(self, number: int) -> str:
        """Return what a run may leave on a machine: processes, rules and files."""
        return self.run(number, "sh", "-c", LEFTOVERS)


@contextmanager
def machines(folder: Path, count: int = 3, *, sudo: bool = True) -> Iterator[MachineSet]:
    """Start machines, and remove them at the end."""
    client = connect_engine()
    run = run_name(folder / "ssh")
    with engine_lock(LOCK_S):
        sweep_locked(client)
        image = packages_image(client, ("openssh-server", "sudo"), lambda line: None)
        subnet = lease_subnet(client, run)
    numbers = range(1, count + 1)
    login = new_key(folder / "login_key")
    hosts = [new_key(folder / f"host_key_{number}") for number in numbers]
    try:
        containers = tuple(
            client.containers.run(
                image,
                ["sh", "-c", SSHD],
                name=f"kraftproof-{run}-{number}",
                hostname=f"machine-{number}",
                detach=True,
                init=True,
                cap_add=["NET_ADMIN"],
                network=subnet.network.name,
                networking_config={
                    subnet.network.name: EndpointConfig("1.41", ipv4_address=subnet.address(number))
                },
                labels=labels(run),
                environment={
                    "LOGIN_KEY": f"{login.get_name()} {login.get_base64()}",
                    "HOST_KEY": (folder / f"host_key_{number}").read_text(),
                    "NO_SUDO": "" if sudo else "1",
                },
            )
            for number in numbers
        )
        addresses = tuple(map(subnet.address, numbers))
        for address in addresses:
            wait_for_sshd(address)
        yield MachineSet(folder, containers, addresses, tuple(map(fingerprint_of, hosts)))
    finally:
        remove_run(client, run)
        client.close()


def new_key(path: Path) -> paramiko.ECDSAKey:
    key = paramiko.ECDSAKey.generate(bits=256)
    key.write_private_key_file(str(path))
    return key


def wait_for_sshd(address: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with socket.create_connection((address, 22), 1) as link:
                if link.recv(4) == b"SSH-":
                    return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"{address}: no sshd")


def main(folder: Path, count: int = 3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with machines(folder, count) as made:
        print(made.write_hosts(), flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *map(int, sys.argv[2:]))
