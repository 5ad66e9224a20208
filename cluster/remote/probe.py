"""One application round trip from a node's network: a request of the system, and any answer.

A connection alone proves little, since the kernel accepts it for a process that is stopped.
"""

from typing import Final, NamedTuple

from kraftproof.cluster.protocol import Address
from kraftproof.cluster.remote.host import Shell

TIMEOUT_S: Final = 0.5
SCRIPT: Final = """
import socket, ssl, sys
host, port, timeout, request, has_tls = sys.argv[1:]
try:
    with socket.create_connection((host, int(port)), float(timeout)) as opened:
        opened.settimeout(float(timeout))
        link = ssl._create_unverified_context().wrap_socket(opened) if int(has_tls) else opened
        link.sendall(bytes.fromhex(request))
        sys.exit(0 if not request or link.recv(1) else 1)
except OSError:
    sys.exit(1)
"""


class Probe(NamedTuple):
    """A request that a live node answers, and whether the node expects TLS."""

    request: bytes
    has_tls: bool = False

    @property
    def words(self) -> tuple[str, str]:
        """Return the request and the mark of TLS, as arguments of a script."""
        return self.request.hex(), str(int(self.has_tls))


async def answers(source: Shell, target: Address, probe: Probe) -> bool:
    """Return whether a node answers a request that is sent from another node's network."""
    arguments = (target.host, str(target.port), str(TIMEOUT_S), *probe.words)
    status, _ = await source.run_python(SCRIPT, *arguments)
    return status == 0
