"""Choose the rules of a request: for its records, and for its answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.brokers import (
    wrong_registration,
    wrong_registration_answer,
    wrong_unregistration,
    wrong_unregistration_answer,
)
from kraftproof.checkers.kraft.specification.cluster.directories import (
    wrong_assignment_answer,
    wrong_assignments,
)
from kraftproof.checkers.kraft.specification.cluster.features import (
    wrong_controller,
    wrong_controller_answer,
    wrong_features,
    wrong_features_answer,
)
from kraftproof.checkers.kraft.specification.configs.changes import (
    wrong_config_answer,
    wrong_config_changes,
)
from kraftproof.checkers.kraft.specification.configs.quotas import (
    wrong_quota_answer,
    wrong_quota_changes,
)
from kraftproof.checkers.kraft.specification.creation import (
    wrong_creation_answer,
    wrong_creations,
)
from kraftproof.checkers.kraft.specification.deletion import (
    wrong_deletion_answer,
    wrong_deletions,
)
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.heartbeats import (
    wrong_heartbeat,
    wrong_heartbeat_answer,
)
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.partitions.alter_partition import (
    wrong_alteration_answer,
    wrong_alterations,
)
from kraftproof.checkers.kraft.specification.partitions.elections import (
    wrong_election_answer,
    wrong_elections,
)
from kraftproof.checkers.kraft.specification.partitions.growth import (
    wrong_growth,
    wrong_growth_answer,
)
from kraftproof.checkers.kraft.specification.partitions.producer_ids import (
    wrong_allocation,
    wrong_allocation_answer,
)
from kraftproof.checkers.kraft.specification.partitions.reassignment import (
    wrong_listing,
    wrong_reassignment_answer,
    wrong_reassignments,
)
from kraftproof.checkers.kraft.specification.rows import (
    Row,
    clients,
    cluster,
    configs,
    partitions,
    quotas,
    secrets,
    security,
)
from kraftproof.checkers.kraft.specification.security.acls import (
    wrong_acl_creation_answer,
    wrong_acl_creations,
    wrong_acl_deletion_answer,
    wrong_acl_deletions,
)
from kraftproof.checkers.kraft.specification.security.scram import (
    wrong_scram_answer,
    wrong_scram_changes,
)
from kraftproof.checkers.kraft.specification.security.tokens import (
    wrong_change,
    wrong_change_answer,
    wrong_token,
    wrong_token_answer,
)


class Case(Struct, frozen=True, kw_only=True):
    """A request with its result, in one image."""

    image: Image
    facts: Facts
    request: Any
    written: Sequence[Row]
    offset: int = 0
    """The offset of the records; not known where an answer is judged."""
    answer: Any = None


Judge = Callable[[Case], str | None]


class Rules(Struct, frozen=True, kw_only=True):
    """The rules of a kind of request."""

    answer: type[Row]
    """The kind of the answer."""
    wrong_records: Judge
    wrong_answer: Judge


def _of_image(
    answer: type[Row],
    wrong_records: Callable[[Image, Any, Sequence[Row]], str | None],
    wrong_answer: Callable[[Image, Any, Any], str | None],
) -> Rules:
    """Return rules that depend on the image only."""
    return Rules(
        answer=answer,
        wrong_records=lambda case: wrong_records(case.image, case.request, case.written),
        wrong_answer=lambda case: wrong_answer(case.image, case.request, case.answer),
    )


def _of_facts(
    answer: type[Row],
    wrong_records: Callable[[Image, Facts, Any, Sequence[Row]], str | None],
    wrong_answer: Callable[[Image, Facts, Any, Any], str | None],
) -> Rules:
    """Return rules that depend on the image and the configuration."""
    return Rules(
        answer=answer,
        wrong_records=lambda case: wrong_records(
            case.image, case.facts, case.request, case.written
        ),
        wrong_answer=lambda case: wrong_answer(case.image, case.facts, case.request, case.answer),
    )


def _of_configs(answer: type[Row]) -> Rules:
    return Rules(
        answer=answer,
        wrong_records=lambda case: wrong_config_changes(case.image, case.request, case.written),
        wrong_answer=lambda case: wrong_config_answer(
            case.image, case.request, case.written, case.answer
        ),
    )


def _of_token(
    answer: type[Row],
    wrong_records: Callable[[Image, Any, Sequence[Row]], str | None],
    wrong_answer: Callable[[Sequence[Row], Any], str | None],
) -> Rules:
    """Return rules whose answer depends on the records only."""
    return Rules(
        answer=answer,
        wrong_records=lambda case: wrong_records(case.image, case.request, case.written),
        wrong_answer=lambda case: wrong_answer(case.written, case.answer),
    )


def _no_records(_: Image, request: Row, written: Sequence[Row]) -> str | None:
    return f"a {type(request).__name__} has written records" if written else None


RULES: Final[Mapping[type[Row], Rules]] = {
    rows.CreateTopicsRequest: Rules(
        answer=rows.CreateTopicsResponse,
        wrong_records=lambda case: wrong_creations(
            case.image, case.facts, case.request, case.written
        ),
        wrong_answer=lambda case: wrong_creation_answer(
            case.image, case.facts, case.request, case.written, case.answer
        ),
    ),
    rows.DeleteTopicsRequest: _of_image(
        rows.DeleteTopicsResponse, wrong_deletions, wrong_deletion_answer
    ),
    rows.BrokerRegistrationRequest: Rules(
        answer=rows.BrokerRegistrationResponse,
        wrong_records=lambda case: wrong_registration(
            case.image, case.facts, case.offset, case.request, case.written
        ),
        wrong_answer=lambda case: wrong_registration_answer(
            case.image, case.facts, case.request, case.written, case.answer
        ),
    ),
    rows.BrokerHeartbeatRequest: Rules(
        answer=rows.BrokerHeartbeatResponse,
        wrong_records=lambda case: wrong_heartbeat(case.image, case.request, case.written),
        wrong_answer=lambda case: wrong_heartbeat_answer(
            case.image, case.request, case.written, case.answer
        ),
    ),
    rows.UnregisterBrokerRequest: _of_image(
        rows.UnregisterBrokerResponse, wrong_unregistration, wrong_unregistration_answer
    ),
    partitions.AlterPartitionRequest: _of_image(
        partitions.AlterPartitionResponse, wrong_alterations, wrong_alteration_answer
    ),
    partitions.AllocateProducerIdsRequest: _of_image(
        partitions.AllocateProducerIdsResponse, wrong_allocation, wrong_allocation_answer
    ),
    configs.IncrementalAlterConfigsRequest: _of_configs(configs.IncrementalAlterConfigsResponse),
    quotas.AlterClientQuotasRequest: _of_image(
        quotas.AlterClientQuotasResponse, wrong_quota_changes, wrong_quota_answer
    ),
    configs.AlterConfigsRequest: _of_configs(configs.AlterConfigsResponse),
    clients.AlterPartitionReassignmentsRequest: _of_image(
        clients.AlterPartitionReassignmentsResponse, wrong_reassignments, wrong_reassignment_answer
    ),
    clients.ListPartitionReassignmentsRequest: _of_image(
        clients.ListPartitionReassignmentsResponse, _no_records, wrong_listing
    ),
    clients.ElectLeadersRequest: _of_image(
        clients.ElectLeadersResponse, wrong_elections, wrong_election_answer
    ),
    cluster.UpdateFeaturesRequest: Rules(
        answer=cluster.UpdateFeaturesResponse,
        wrong_records=lambda case: wrong_features(
            case.image, case.facts, case.request, case.written
        ),
        wrong_answer=lambda case: wrong_features_answer(
            case.image, case.facts, case.request, case.written, case.answer
        ),
    ),
    cluster.ControllerRegistrationRequest: _of_image(
        cluster.ControllerRegistrationResponse, wrong_controller, wrong_controller_answer
    ),
    cluster.AssignReplicasToDirsRequest: _of_image(
        cluster.AssignReplicasToDirsResponse, wrong_assignments, wrong_assignment_answer
    ),
    secrets.AlterUserScramCredentialsRequest: _of_image(
        secrets.AlterUserScramCredentialsResponse, wrong_scram_changes, wrong_scram_answer
    ),
    secrets.CreateDelegationTokenRequest: _of_token(
        secrets.CreateDelegationTokenResponse, wrong_token, wrong_token_answer
    ),
    secrets.RenewDelegationTokenRequest: _of_token(
        secrets.RenewDelegationTokenResponse, wrong_change, wrong_change_answer
    ),
    secrets.ExpireDelegationTokenRequest: _of_token(
        secrets.ExpireDelegationTokenResponse, wrong_change, wrong_change_answer
    ),
    security.CreateAclsRequest: _of_facts(
        security.CreateAclsResponse, wrong_acl_creations, wrong_acl_creation_answer
    ),
    security.DeleteAclsRequest: _of_facts(
        security.DeleteAclsResponse, wrong_acl_deletions, wrong_acl_deletion_answer
    ),
    clients.CreatePartitionsRequest: _of_image(
        clients.CreatePartitionsResponse, wrong_growth, wrong_growth_answer
    ),
}
