"""Commands inside a pod's network: through nsenter from the host, or else in the pod itself.

Entering from the host takes 3-4 ms and 20 times less than the engine's exec, but needs root on
the engine's own machine. Not: what is run (cluster/remote).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import docker

from kraftproof.cluster.protocol import ClusterError

COMMAND_S = 10.0
NO_ENTRY = "proxies of links need root, nsenter and iptables on the machine of the engine"
ELSEWHERE = "the processes of its container are not on this machine, but on that of the engine"
KEPT = "/tmp/names-of-kraftproof"  # noqa: S108 - in the pod, where nobody else is
TOOLS = ("nsenter", "iptables", "iptables-restore", "iptables-save")

KEEP = (
    f"mkdir -p {KEPT}; for file in hosts resolv.conf; do "
    f"test -e {KEPT}/$file || cp /etc/$file {KEPT}/$file; done; "
)
HIDE = (
    f'{KEEP} for name; do text=$(grep -v -w -e "$name" /etc/hosts); echo "$text" > /etc/hosts; '
    'done; printf "nameserver 127.0.0.1\noptions attempts:1 timeout:1\n" > /etc/resolv.conf'
)
"""Nobody answers at that name server; the engine's own server knows the host names of pods."""
RESTORE = (
    f"for file in hosts resolv.conf; do test ! -e {KEPT}/$file || cat {KEPT}/$file > /etc/$file; "
    "done"
)


class PodNetwork:
    """The network namespace of one pod."""

    __slots__ = ("_client", "_entry_pid", "_pod")

    def __init__(self, client: docker.DockerClient, pod: str, *, from_host: bool = True) -> None:
        self._client = client
        self._pod = pod
        self._entry_pid = host_pid(client, pod) if from_host else None

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a command; return its exit status and what it printed."""
        if self._entry_pid is None:
            return self._run_in_pod(command)
        entry = ("nsenter", "-t", str(self._entry_pid), "-n", *command)
        try:
            done = subprocess.run(
                entry,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ClusterError(f"docker: {command[0]} took over {COMMAND_S:.0f} s") from error
        return done.returncode, done.stdout.decode(errors="replace")

    def entry(self, group: int) -> tuple[str, ...]:
        """Return the words that let a command of this machine run in the pod's network.

        Raises:
            ClusterError: this process may not enter the network.
        """
        if self._entry_pid is None:
            raise ClusterError(f"docker: {NO_ENTRY}")
        return ("nsenter", "-t", str(self._entry_pid), "-n", "-G", str(group))

    def run_python(self, script: str, *arguments: str) -> tuple[int, str]:
        """Run a script of the standard library only."""
        python = "python3" if self._entry_pid is None else sys.executable
        return self.run((python, "-I", "-S", "-c", script, *arguments))

    def hide_names(self, names: Sequence[str]) -> None:
        """Remove names from the hosts file, which the node shares with its pod, and from DNS.

        Raises:
            ClusterError: the file can't be changed.
        """
        self._in_hosts_file(HIDE, *names)

    def restore_names(self) -> None:
        """Restore the hosts file and the name server."""
        self._in_hosts_file(RESTORE)

    def unresolved(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the names that do not resolve in the pod."""
        return tuple(name for name in names if self._run_in_pod(("getent", "hosts", name))[0])

    def _in_hosts_file(self, script: str, *names: str) -> None:
        status, output = self._run_in_pod(("sh", "-c", script, "sh", *names))
        if status:
            raise ClusterError(f"docker: hosts file of {self._pod[:12]}: {output.strip()}")

    def _run_in_pod(self, command: Sequence[str]) -> tuple[int, str]:
        done = self._client.api.exec_create(self._pod, list(command), user="root")
        output: bytes = self._client.api.exec_start(done["Id"])
        status = self._client.api.exec_inspect(done["Id"])["ExitCode"]
        return int(status), output.decode(errors="replace")


def may_enter() -> bool:
    """Return whether this process may enter the network of a pod of this machine."""
    return os.geteuid() == 0 and all(shutil.which(tool) is not None for tool in TOOLS)


def host_pid(client: docker.DockerClient, pod: str) -> int | None:
    """Return the pod's process id if this process may and can enter its namespace."""
    if not may_enter():
        return None
    pid = int(client.api.inspect_container(pod)["State"]["Pid"])
    return pid if is_of_container(pid, pod) else None


def is_of_container(pid: int, container: str) -> bool:
    """Return whether a process of this machine belongs to a container.

    An engine on another machine tells ids of that machine: here they are strangers.
    """
    try:
        return container in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
