"""Logins on the simulated SASL listener of a broker, with the decisions of the core.

On real nodes the sockets take the login (node/server/security/authentication.py). Here the process
takes the requests of connections to the SASL listener, before the shell does. A broker without a
published image refuses every login.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.security.logins import LOGINS_ARE_VALID, wrong_login
from kraftproof.cluster.simulated.network.network import Call, Connection
from kraftproof.cluster.simulated.network.transport import Arrived
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.process_view import ProcessView
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.sasl_state import SaslSession
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    sasl_authenticate_request,
    sasl_authenticate_response,
    sasl_handshake_request,
)

_NONCE_BITS: Final = 120


class SimulatedLogins:
    """The logins of the connections to one process."""

    __slots__ = ("_env", "_images", "_policy", "_process", "_random", "_sessions")

    def __init__(self, process: ProcessView, env: NodeEnvironment) -> None:
        self._process = process
        self._env = env
        self._policy = env.login_policy
        self._random = Random(f"nonces of {env.node_id}/{process.incarnation}")
        self._sessions: dict[Connection, SaslSession] = {}
        self._images: dict[Connection, MetadataImage] = {}
        """The image with which each login under way has begun."""

    def admit(self, call: Call, arrived: Arrived) -> Arrived | None:
        """Return a request with its principal; None for a request of the login itself."""
        message = arrived.message
        session = self._sessions.get(call.connection)
        if isinstance(message, sasl_handshake_request.SaslHandshakeRequest):
            if self._policy is None:
                call.end(closes_connection=True)
                return None
            session = SaslSession(self._policy, self._draw_nonce)
            self._sessions[call.connection] = session
            call.answer(session.handshake(message.mechanism))
            return None
        if session is None:
            call.end(closes_connection=True)
            return None
        if isinstance(message, sasl_authenticate_request.SaslAuthenticateRequest):
            self._authenticate(call, session, message.auth_bytes)
            return None
        if session.principal is None:
            call.end(closes_connection=True)
            return None
        return replace(
            arrived,
            principal=session.principal,
            security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        )

    def _draw_nonce(self) -> str:
        return f"{self._random.getrandbits(_NONCE_BITS):x}"

    def _authenticate(self, call: Call, session: SaslSession, data: bytes) -> None:
        image, now = self._process.image, self._env.clock.now()
        begun = self._images.setdefault(call.connection, image)
        module = sasl_authenticate_response
        try:
            step = session.receive(data, image, now)
        except LoginError as error:
            del self._sessions[call.connection]
            call.answer(
                module.SaslAuthenticateResponse(
                    error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=str(error)
                )
            )
            return
        if step.principal is not None:
            images = (begun, image)
            wrong = wrong_login(session.login_name, step.principal, images, now, step.lifetime_ms)
            if wrong is not None:
                self._env.monitor.report_violation_of(
                    "LoginsAreValid", LOGINS_ARE_VALID, self._process, wrong
                )
        call.answer(
            module.SaslAuthenticateResponse(
                auth_bytes=step.answer, session_lifetime_ms=step.lifetime_ms
            )
        )
