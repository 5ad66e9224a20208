"""One application round trip from a node's network: a request of the system, and any answer.

A connection alone proves little, since the kernel accepts it for a process that is stopped.
"""

from typing import Final

from kraftproof.cluster.protocol import Address
from kraftproof.cluster.remote.host import Shell

TIMEOUT_S: Final = 0.5
SCRIPT: Final = """
import socket, sys
host, port, timeout, request = sys.argv[1:]
try:
    with socket.create_connection((host, int(port)), float(timeout)) as link:
        link.settimeout(float(timeout))
        link.sendall(bytes.fromhex(request))
        sys.exit(0 if not request or link.recv(1) else 1)
except OSError:
    sys.exit(1)
"""


async def answers(source: Shell, target: Address, request: bytes) -> bool:
    """Return whether a node answers a request that is sent from another node's network."""
    arguments = (target.host, str(target.port), str(TIMEOUT_S), request.hex())
    status, _ = await source.run_python(SCRIPT, *arguments)
    return status == 0
