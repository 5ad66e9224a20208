"""Client of the reference system for the workload `topics`."""

from kraftproof.cluster.systems.kafka import topics
from kraftproof.cluster.systems.reference.errors import ERRORS


class TopicsClient(topics.TopicsClient):
    """Topics, through one broker of ours."""

    errors = ERRORS
