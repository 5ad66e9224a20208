"""Measure a link from the network of its source: times, bytes and ends of connections."""

import json
from typing import Final

import msgspec

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Address, ClusterError
from kraftproof.cluster.remote.host import Shell
from kraftproof.cluster.remote.probe import Probe

TIMEOUT_S: Final = 4.0
NS_PER_S: Final = 1_000_000_000
PART: Final = 0.8
"""Share of a delay that has to be measured."""
SLACK: Final = 1.25
"""A limited rate is at most so many times the limit, as measured."""
SLOWER: Final = 2.0
"""A limited rate is less than the rate before, divided by this number."""
SCRIPT: Final = """
import json, socket, ssl, sys, time
host, port, timeout, request, has_tls, connections, requests = sys.argv[1:]
found = {"connections": 0, "broken": 0, "answers": 0, "received": 0, "answer_s": 0, "close_s": 0,
    "total_s": 0, "sent": 0, "fastest_s": float(timeout)}
for _ in range(int(connections)):
    link = socket.socket()
    try:
        started = time.monotonic()
        found["connections"] += 1
        link = socket.create_connection((host, int(port)), float(timeout))
        link.settimeout(float(timeout))
        if int(has_tls):
            link = ssl._create_unverified_context().wrap_socket(link)
        for _ in range(int(requests)):
            began = time.monotonic()
            link.sendall(bytes.fromhex(request))
            found["sent"] += len(request) // 2
            data = link.recv(65536)
            if not data:
                raise ConnectionError
            found["received"] += len(data)
            found["answers"] += 1
            answer_s = time.monotonic() - began
            found["answer_s"] = max(found["answer_s"], answer_s)
            found["fastest_s"] = min(found["fastest_s"], answer_s)
        began = time.monotonic()
        found["total_s"] += began - started
        try:
            link.shutdown(socket.SHUT_WR)
            while data := link.recv(65536):
                found["received"] += len(data)
        except ConnectionError:
            pass  # all answers came
        found["close_s"] = max(found["close_s"], time.monotonic() - began)
    except TimeoutError:
        found["answer_s"] = max(found["answer_s"], time.monotonic() - started)
    except OSError:
        found["broken"] += 1
    finally:
        link.close()
print(json.dumps(found))
"""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What connections of a link met.

    Attributes:
        connections: Connections that were opened.
        broken: Connections that ended before their last answer.
        answers: Answers that came.
        sent: Bytes of the requests.
        received: Bytes that came.
        answer_s: Longest time of an answer, in seconds.
        fastest_s: Shortest time of an answer, in seconds.
        total_s: Time of the whole connections, all answers included, in seconds.
        close_s: Longest time from the end of the requests to the end of the connection, in seconds.
    """

    connections: int
    broken: int
    answers: int
    sent: int
    received: int
    answer_s: float
    fastest_s: float
    close_s: float
    total_s: float

    @property
    def rate(self) -> float:
        """Bytes per second of the direction with fewer bytes, in complete connections."""
        return min(self.sent, self.received) / self.total_s if self.total_s else 0.0


async def measure(
    source: Shell, target: Address, probe: Probe, *, connections: int = 1, requests: int = 1
) -> Measured:
    """Return what connections with some requests each meet.

    Raises:
        ClusterError: the script does not run there.
    """
    counts = (str(connections), str(requests))
    words = (target.host, str(target.port), str(TIMEOUT_S), *probe.words, *counts)
    status, output = await source.run_python(SCRIPT, *words)
    if status:
        raise ClusterError(f"link to {target.host}: not measured: {output.strip()[-100:]}")
    return msgspec.convert(json.loads(output), Measured)


def measured_effect(fault: LinkFault, before: Measured, now: Measured) -> str | None:
    """Return the effect of a fault in words, from measurements; None without an effect."""
    if fault.slow_ns and now.fastest_s >= before.fastest_s + PART * fault.slow_ns / NS_PER_S:
        return f"an answer took {now.fastest_s:.3f} s, {before.fastest_s:.3f} s before"
    is_slower = SLOWER * now.rate < before.rate
    if fault.bandwidth and now.rate <= SLACK * fault.bandwidth and is_slower:
        return f"{now.rate:.0f} bytes per second passed, {before.rate:.0f} before"
    if fault.close_ns and now.close_s >= before.close_s + PART * fault.close_ns / NS_PER_S:
        return f"the end took {now.close_s:.3f} s, {before.close_s:.3f} s before"
    if (fault.limit or fault.reset) and now.broken > before.broken:
        return f"{now.broken} of {now.connections} connections broke after {now.received} bytes"
    return None


def counts_for(fault: LinkFault) -> tuple[int, int]:
    """Return the connections, and requests on each, that show a fault."""
    if fault.limit or fault.bandwidth:
        return 1, 40 if fault.limit else 10
    if fault.slow_ns:
        return 1, 3  # the shortest of several times, since a busy machine has delays of its own
    return (10, 1) if fault.reset else (1, 1)
