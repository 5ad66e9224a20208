"""When a cluster is up: every broker shows all brokers as unfenced in its own image."""

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.node.wire.messages import metadata_request, metadata_response

METADATA_VERSION = 12
ASK_TIMEOUT_NS = 1_000_000_000
PAUSE_NS = 50_000_000


async def wait_until_ready(cluster: Cluster, timeout_ns: int) -> None:
    """Wait for every broker.

    Raises:
        ClusterError: a broker is not ready in time.
    """
    brokers = [node.node_id for node in cluster.nodes if node.is_broker]
    deadline_ns = cluster.scope.now() + timeout_ns
    for broker in brokers:
        while (lacks := await _lacks(cluster, broker, brokers)) is not None:
            if cluster.scope.now() > deadline_ns:
                raise ClusterError(
                    f"broker {broker} is not ready after {timeout_ns // 10**9} s: {lacks}; look at"
                    " the output of the nodes"
                )
            await cluster.scope.sleep(PAUSE_NS)


async def _lacks(cluster: Cluster, broker: int, brokers: list[int]) -> str | None:
    """What a broker lacks to be ready; None if it answers that all brokers are there."""
    try:
        connection = await cluster.connect(broker, ASK_TIMEOUT_NS)
    except ConnectionFailed as error:
        return f"it takes no connection ({error})"
    try:
        request = metadata_request.MetadataRequest(topics=())
        answer = await connection.call(request, METADATA_VERSION, ASK_TIMEOUT_NS)
    except (ConnectionFailed, OutcomeUnknown) as error:
        return f"it does not answer ({error})"
    finally:
        connection.close()
    assert isinstance(answer, metadata_response.MetadataResponse)
    shown = sorted(one.node_id for one in answer.brokers)
    return None if set(shown).issuperset(brokers) else f"of {brokers} it shows {shown}"
