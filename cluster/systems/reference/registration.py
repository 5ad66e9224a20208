"""Client of the reference system for the workload `registration`."""

from kraftproof.cluster.systems.kafka import registration
from kraftproof.cluster.systems.reference.errors import ERRORS


class RegistrationClient(registration.RegistrationClient):
    """The test's own brokers at controllers of ours."""

    errors = ERRORS
