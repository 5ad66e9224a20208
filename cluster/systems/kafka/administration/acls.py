"""Access control entries in Kafka's protocol: granted by a super user, asked about as users.

`describe` is a Metadata request, `describe-configs` a DescribeConfigs, which the broker judges.
`alter` is a CreatePartitions that only validates, which the controller judges. The topics do not
exist, so an allowed request ends in another error.
"""

from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.systems.kafka.administration.logins import password_of, user_login
from kraftproof.cluster.systems.kafka.administration.secure_client import (
    Altered,
    SecureClient,
)
from kraftproof.cluster.systems.kafka.client import OPERATION_TIMEOUT_MS, answered, first_of
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_acls_request,
    create_acls_response,
    create_partitions_request,
    create_partitions_response,
    delete_acls_request,
    delete_acls_response,
    describe_configs_request,
    describe_configs_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.schema import Message

ACLS_VERSION: Final = 3
METADATA_VERSION: Final = 12
CONFIGS_VERSION: Final = 4
PARTITIONS_VERSION: Final = 3
TOPIC: Final = 2
_OPERATIONS: Final = {"all": 2, "alter": 7, "describe": 8, "describe-configs": 10}
_PATTERNS: Final = {"literal": 3, "prefixed": 4}
_PERMISSIONS: Final = {"deny": 2, "allow": 3}
_JUDGED: Final = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_PARTITIONS,
    }
)
"""The errors of an allowed request about a topic that does not exist."""


class AclsClient(SecureClient):
    """Access control entries, through one broker."""

    @override
    async def _as_a_user(self, f: str, key: str, value: Value) -> Completion | None:
        if f not in {"ask", "final"}:
            return None
        user = value["user"]
        request, version = _question(value["operation"], value["topic"])
        login = user_login(user, password_of(user))
        code = _code(await self._call_as(login, request, version))
        if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            return Completion(outcome=Outcome.OK, value={"allowed": False})
        if code in _JUDGED:
            return Completion(outcome=Outcome.OK, value={"allowed": True})
        return self._refused(f, code)

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "grant":
                return _creation(value), ACLS_VERSION
            case "revoke":
                return _deletion(value), ACLS_VERSION
            case _:
                return self._prepared(key)

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        match answer:
            case create_acls_response.CreateAclsResponse():
                code = first_of(answer.results).error_code
            case delete_acls_response.DeleteAclsResponse():
                code = first_of(answer.filter_results).error_code
            case _:
                return self._altered(f, cast("Altered", answer))
        return answered(f"{f}ed") if code == ErrorCode.NONE else self._refused(f, code)


def _creation(value: Value) -> Message:
    module = create_acls_request
    creation = module.AclCreation(
        resource_type=TOPIC,
        resource_name=value["topic"],
        resource_pattern_type=_PATTERNS[value["pattern"]],
        principal=f"User:{value['user']}",
        host="*",
        operation=_OPERATIONS[value["operation"]],
        permission_type=_PERMISSIONS[value["permission"]],
    )
    return module.CreateAclsRequest(creations=(creation,))


def _deletion(value: Value) -> Message:
    module = delete_acls_request
    one = module.DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter=value["topic"],
        pattern_type_filter=_PATTERNS[value["pattern"]],
        principal_filter=f"User:{value['user']}",
        host_filter="*",
        operation=_OPERATIONS[value["operation"]],
        permission_type=_PERMISSIONS[value["permission"]],
    )
    return module.DeleteAclsRequest(filters=(one,))


def _question(operation: str, topic: str) -> tuple[Message, int]:
    match operation:
        case "describe":
            wanted = metadata_request.MetadataRequestTopic(name=topic)
            request: Message = metadata_request.MetadataRequest(
                topics=(wanted,), allow_auto_topic_creation=False
            )
            return request, METADATA_VERSION
        case "describe-configs":
            resource = describe_configs_request.DescribeConfigsResource(
                resource_type=TOPIC, resource_name=topic, configuration_keys=()
            )
            request = describe_configs_request.DescribeConfigsRequest(resources=(resource,))
            return request, CONFIGS_VERSION
        case _:
            module = create_partitions_request
            grown = module.CreatePartitionsTopic(name=topic, count=1, assignments=None)
            request = module.CreatePartitionsRequest(
                topics=(grown,), timeout_ms=OPERATION_TIMEOUT_MS, validate_only=True
            )
            return request, PARTITIONS_VERSION


def _code(answer: Message) -> int:
    match answer:
        case metadata_response.MetadataResponse():
            return first_of(answer.topics).error_code
        case describe_configs_response.DescribeConfigsResponse():
            return first_of(answer.results).error_code
        case _:
            module = create_partitions_response
            return first_of(cast("module.CreatePartitionsResponse", answer).results).error_code
