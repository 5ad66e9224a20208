"""State the answers that a broker gives itself, from its configuration and its newest image.

The table has a function for each API key. A function draws a request, and returns the request with
the comparison of its answer.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kraftproof.cluster.simulated.differential.brokers.drawn_tokens import (
    may_ask,
    shown_scram,
    shown_tokens,
)
from kraftproof.cluster.simulated.differential.brokers.shown_rights import (
    DESCRIBE_TOKENS,
    NOT_ASKED,
    OF_CLUSTERS,
    TOKEN,
)
from kraftproof.cluster.simulated.differential.core.whole_refusals import refused_answer, texts_of
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.door.versions_model import Versions
from kraftproof.cluster.simulated.differential.door.view import (
    DESCRIBE_CONFIGS,
    KEPT,
    QUOTA,
    USER,
    View,
)
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
    TOPIC,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    describe_acls_request,
    describe_client_quotas_request,
    describe_cluster_request,
    describe_configs_request,
    describe_delegation_token_request,
    describe_topic_partitions_request,
    describe_user_scram_credentials_request,
    list_config_resources_request,
    sasl_authenticate_request,
    sasl_handshake_request,
)
from kraftproof.node.wire.records.metadata import DelegationTokenRecord

Judge = Callable[[Received, Any], None]
"""Compares the answer to a request."""
Question = tuple[Message, Judge]
BROKER: Final = 4
"""The type of a resource with the configurations of a broker."""
ANY: Final = 1
"""The number of a filter of access control entries that takes every value."""


def _versions(view: View, advertised: Versions) -> Question:
    name = view.random.choice(("client", ""))

    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        is_refused = event.version >= 3 and not name
        error = ErrorCode.INVALID_REQUEST if is_refused else ErrorCode.NONE
        same("the error of ApiVersions", answer.error_code, int(error))
        keys = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
        same("the advertised versions", keys, {} if is_refused else dict(advertised))
        epoch = -1 if is_refused else view.offset - 1
        same("the end of the image", answer.finalized_features_epoch, epoch)
        found = {one.name: one.max_version_level for one in answer.finalized_features}
        same("the features", found, {} if is_refused else dict(view.image.features))

    request = api_versions_request.ApiVersionsRequest(
        client_software_name=name, client_software_version="1"
    )
    return request, judge


def _acls(view: View, _: Versions) -> Question:
    def judge(_: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error = ErrorCode.SECURITY_DISABLED if view.policy is None else ErrorCode.NONE
        same("the error of DescribeAcls", answer.error_code, int(error))
        shown = [
            (one.resource_type, one.pattern_type, one.resource_name, acl.principal, acl.operation)
            for one in answer.resources
            for acl in one.acls
        ]
        due = [
            (one.resource_type, one.pattern_type, one.resource_name, one.principal, one.operation)
            for one in view.entries
        ]
        is_shown = view.policy is not None and not view.is_empty
        same("the entries", sorted(shown), sorted(due) if is_shown else [])

    request = describe_acls_request.DescribeAclsRequest(
        resource_type_filter=ANY, pattern_type_filter=ANY, operation=ANY, permission_type=ANY
    )
    return request, judge


def _cluster(view: View, _: Versions) -> Question:
    kind, with_fenced = view.random.choice((1, 1, 2)), view.random.random() < 0.5
    wanted = view.random.random() < 0.5

    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error = ErrorCode.NONE if kind == 1 else ErrorCode.MISMATCHED_ENDPOINT_TYPE
        same("the error of DescribeCluster", answer.error_code, int(error))
        if error:
            return
        shown = [(one.broker_id, one.host, one.port, one.is_fenced) for one in answer.brokers]
        same("the brokers", shown, listed(view, event, with_fenced=with_fenced))
        bits = cluster_bits(view, event) if wanted else NOT_ASKED
        found = (answer.cluster_id, answer.cluster_authorized_operations)
        same("the cluster", found, (view.config.cluster_id, bits))

    request = describe_cluster_request.DescribeClusterRequest(
        endpoint_type=kind,
        include_fenced_brokers=with_fenced,
        include_cluster_authorized_operations=wanted,
    )
    return request, judge


def listed(view: View, event: Received, *, with_fenced: bool) -> list[tuple[int, str, int, bool]]:
    """Return the brokers that a client of a listener sees."""
    name = view.listener_of(event)
    return [
        (broker.broker_id, endpoint.host, endpoint.port, broker.fenced)
        for broker in sorted(view.image.brokers.values(), key=lambda one: one.broker_id)
        for endpoint in broker.endpoints
        if endpoint.name == name and (with_fenced or not broker.fenced)
    ]


def cluster_bits(view: View, event: Received) -> int:
    """Return a client's operations on the cluster as bits."""
    rights = view.rights
    if not rights.allows_on_cluster(event, DESCRIBE):
        return 0
    return sum(1 << one for one in OF_CLUSTERS if rights.allows_on_cluster(event, one))


def _pages(view: View, _: Versions) -> Question:
    module = describe_topic_partitions_request

    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        shown = {one.name: one.error_code for one in answer.topics}
        same("the topics of a page", shown, {
            name: int(topic_error(view, event, DESCRIBE, name)) for name in ("a", "b")
        })  # fmt: skip

    topics = tuple(module.TopicRequest(name=name) for name in ("a", "b"))
    return module.DescribeTopicPartitionsRequest(topics=topics), judge


def topic_error(view: View, event: Received, operation: int, name: str) -> ErrorCode:
    """Return the error of a request about a topic: no right, no topic, or none."""
    if not view.allows(event, operation, TOPIC, name):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    is_known = name in view.image.topic_ids
    return ErrorCode.NONE if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _resources(view: View, _: Versions) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        shown = [(one.resource_type, one.resource_name) for one in answer.config_resources]
        topics = [(TOPIC, name) for name in sorted(view.image.topic_ids)]
        same("the listed resources", shown, topics if event.version else [])

    kinds = (TOPIC,)
    return list_config_resources_request.ListConfigResourcesRequest(resource_types=kinds), judge


def _quotas(view: View, _: Versions) -> Question:
    def judge(_: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        shown = [
            (part.entity_type, part.entity_name, one.key, one.value)
            for entry in answer.entries
            for part in entry.entity
            for one in entry.values
        ]
        due = [] if view.is_empty else [("client-id", None, "consumer_byte_rate", QUOTA)]
        same("the quotas", shown, due)

    return describe_client_quotas_request.DescribeClientQuotasRequest(), judge


def _configs(view: View, _: Versions) -> Question:
    own = view.config.node_id
    asked = view.random.choice((own, own, own + 1))

    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error, values = ErrorCode.NONE, [KEPT]
        if not view.allows(event, DESCRIBE_CONFIGS, CLUSTER, CLUSTER_NAME):
            error, values = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, []
        elif asked != own:
            error, values = ErrorCode.INVALID_REQUEST, []
        shown = [
            (one.error_code, [(entry.name, entry.value) for entry in one.configs])
            for one in answer.results
        ]
        same("the configurations of a broker", shown, [(int(error), values)])

    module = describe_configs_request
    resource = module.DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(asked), configuration_keys=(KEPT[0],)
    )
    return module.DescribeConfigsRequest(resources=(resource,)), judge


def _tokens(view: View, _: Versions) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error = ErrorCode.NONE
        if not may_ask(event):
            error = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        elif view.config.tokens.secret is None:
            error = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        seen = [one for one in view.tokens if _sees(view, event, one)]
        is_shown = not error and not view.is_empty
        tokens = shown_tokens(seen, event.version) if is_shown else ()
        same("the tokens", (answer.error_code, answer.tokens), (int(error), tokens))

    module = describe_delegation_token_request
    return module.DescribeDelegationTokenRequest(owners=None), judge


def _sees(view: View, event: Received, token: DelegationTokenRecord) -> bool:
    """Return whether a client sees a token: as owner, renewer, or by a right."""
    if f"{event.principal.type}:{event.principal.name}" in {token.owner, *token.renewers}:
        return True
    is_described = view.allows(event, DESCRIBE, TOKEN, token.token_id)
    return is_described or view.allows(event, DESCRIBE_TOKENS, USER, token.owner)


def _scram(view: View, _: Versions) -> Question:
    def judge(_: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        shown = [
            (one.user, [(info.mechanism, info.iterations) for info in one.credential_infos])
            for one in answer.results
        ]
        due = () if view.is_empty else shown_scram(view.credentials, ())
        same("the mechanisms of users", shown, [(name, held) for name, _, held in due])

    module = describe_user_scram_credentials_request
    return module.DescribeUserScramCredentialsRequest(users=None), judge


def _login(view: View, _: Versions) -> Question:
    def judge(_: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        same("the error of a late login", answer.error_code, int(ErrorCode.ILLEGAL_SASL_STATE))

    late: tuple[Message, ...] = (
        sasl_handshake_request.SaslHandshakeRequest(mechanism="PLAIN"),
        sasl_authenticate_request.SaslAuthenticateRequest(auth_bytes=b"0"),
    )
    return view.random.choice(late), judge


def _of_controllers(view: View, _: Versions) -> Question:
    """Ask a broker for what only controllers serve: the registration or heartbeat of a broker."""
    asked: Any = REQUESTS[view.random.choice((62, 63))].message()

    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        refused = refused_answer(event.message, ErrorCode.NOT_CONTROLLER, None)
        same("the refusal of a controller's request", answer, refused)
        check("the answer has no reason", not texts_of(answer))

    return asked, judge


OWN_ANSWERS: Final[Mapping[int, Callable[[View, Versions], Question]]] = {
    17: _login,
    18: _versions,
    29: _acls,
    32: _configs,
    36: _login,
    41: _tokens,
    48: _quotas,
    50: _scram,
    60: _cluster,
    62: _of_controllers,
    74: _resources,
    75: _pages,
}
"""By API key; the key 62 stands for the heartbeat, too."""
