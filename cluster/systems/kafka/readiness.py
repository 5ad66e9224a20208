"""When a cluster is ready: every broker shows all brokers as unfenced in its own image."""

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.connection import connect
from kraftproof.node.wire.messages import metadata_request, metadata_response

METADATA_VERSION = 12
ASK_TIMEOUT_NS = 1_000_000_000


async def lacks(cluster: Cluster) -> str | None:
    """Return what the first broker that is not ready lacks; None if every one is ready."""
    brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
    for broker in brokers:
        found = await _lacks(cluster, broker, brokers)
        if found is not None:
            return f"broker {broker}: {found}"
    return None


async def _lacks(cluster: Cluster, broker: int, brokers: list[int]) -> str | None:
    """Return why a broker is not ready, or None if the broker knows all brokers."""
    try:
        connection = await connect(cluster, broker, ASK_TIMEOUT_NS)
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
