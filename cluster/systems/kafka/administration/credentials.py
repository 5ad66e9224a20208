"""SCRAM credentials in Kafka's protocol: set and removed by a super user, used in logins."""

from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.systems.kafka.administration.logins import MECHANISM_NUMBER, user_login
from kraftproof.cluster.systems.kafka.administration.secure_client import (
    ALTER_VERSION,
    Altered,
    SecureClient,
)
from kraftproof.cluster.systems.kafka.client import first_of
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
)
from kraftproof.node.wire.schema import Message

DESCRIBE_VERSION: Final = 0


class CredentialsClient(SecureClient):
    """The credentials of users, through one broker."""

    @override
    async def _as_a_user(self, f: str, key: str, value: Value) -> Completion | None:
        if f not in {"login", "final"}:
            return None
        result = await self._log_in(user_login(key, value["password"]))
        told = {"accepted": result.is_accepted, "iterations": result.iterations}
        return Completion(outcome=Outcome.OK, value=told)

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "set":
                return self._credential(key, value["password"], value["iterations"]), ALTER_VERSION
            case "prepare":
                return self._prepared(key)
            case "remove":
                module = alter_user_scram_credentials_request
                deletion = module.ScramCredentialDeletion(name=key, mechanism=MECHANISM_NUMBER)
                request: Message = module.AlterUserScramCredentialsRequest(
                    deletions=(deletion,), upsertions=()
                )
                return request, ALTER_VERSION
            case _:
                asked = describe_user_scram_credentials_request
                users = (asked.UserName(name=key),)
                return asked.DescribeUserScramCredentialsRequest(users=users), DESCRIBE_VERSION

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        if isinstance(answer, Altered):
            return self._altered(f, answer)
        module = describe_user_scram_credentials_response
        result = first_of(cast("module.DescribeUserScramCredentialsResponse", answer).results)
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            return Completion(outcome=Outcome.OK, value={"iterations": None})
        if result.error_code != ErrorCode.NONE:
            return self._refused(f, result.error_code)
        shown = first_of(result.credential_infos).iterations
        return Completion(outcome=Outcome.OK, value={"iterations": shown})
