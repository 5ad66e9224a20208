"""A program that holds a port in a node's network, so that the node can't listen there.

The program binds the port and never listens, so that clients are refused at once. It ends with its
release, with the harness (if it sees the harness), and after a few minutes at the latest.
"""

import os
from typing import Final

from kraftproof.cluster.processes import identify
from kraftproof.cluster.protocol import Address, ClusterError
from kraftproof.cluster.remote.host import Shell

LIMIT_S: Final = 300
"""Longest life of the program, in seconds."""
SCRIPT: Final = """
import os, socket, sys, time
host, port, limit, harness, started = sys.argv[1:]
def start_time():
    try:
        with open(f"/proc/{harness}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""
held = socket.socket()
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
for attempt in range(50):
    try:
        held.bind((host, int(port)))
        break
    except OSError as error:
        if attempt == 49:
            sys.exit(f"{error.strerror}")
        time.sleep(0.1)
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
child = os.fork()
if child:
    print(child)
    sys.exit(0)
os.setsid()
nothing = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(nothing, stream)
is_watched = start_time() == started
for _ in range(int(limit) * 5):
    if is_watched and start_time() != started:
        break
    time.sleep(0.2)
"""

END: Final = """
import os, signal, sys, time
pid = sys.argv[1]
def is_alive():
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
if is_alive():
    os.kill(int(pid), signal.SIGKILL)
for _ in range(100):
    if not is_alive():
        break
    time.sleep(0.02)
"""


class HeldPort:
    """A port that is taken."""

    __slots__ = ("_pid", "_shell")

    def __init__(self, shell: Shell, pid: int) -> None:
        self._shell = shell
        self._pid = pid

    async def free(self) -> None:
        """End the program, and wait until the port is free."""
        await self._shell.run_python(END, str(self._pid))


async def hold(shell: Shell, address: Address) -> HeldPort:
    """Take a port in the network of a shell.

    Raises:
        ClusterError: the port can't be taken.
    """
    own = identify(os.getpid())
    assert own is not None, "this process runs"
    words = (address.host, str(address.port), str(LIMIT_S), str(own.pid), str(own.start_time))
    status, output = await shell.run_python(SCRIPT, *words)
    if status or not output.strip().isdecimal():
        raise ClusterError(f"port {address.host}:{address.port} can't be taken: {output.strip()}")
    return HeldPort(shell, int(output))
