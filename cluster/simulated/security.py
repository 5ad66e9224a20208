"""The security of a simulated cluster: authorizer, listener for logins, and delegation tokens."""

from typing import Final

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.simulated.shape import draw_authorizer
from kraftproof.cluster.systems.reference.workload_security import (
    MECHANISM,
    TOKEN_EXPIRY_MS,
    TOKEN_LIFETIME_MS,
    TOKEN_SECRET,
    TOKEN_SWEEP_MS,
)
from kraftproof.node.core.base.config import AuthorizerPolicy, TokenPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.wire.principal import ANONYMOUS

SECRET: Final = Secret(TOKEN_SECRET)
LOGINS: Final = LoginPolicy(mechanisms=(MECHANISM,), token_secret=SECRET)
TOKENS: Final = TokenPolicy(
    secret=SECRET,
    max_lifetime_ms=TOKEN_LIFETIME_MS,
    default_lifetime_ms=TOKEN_EXPIRY_MS,
    sweep_interval_ns=milliseconds(TOKEN_SWEEP_MS),
)


def authorizer_of(options: ClusterOptions) -> AuthorizerPolicy | None:
    """Return the rules of the authorizer: always, if the workload is about security."""
    if options.has_security:
        return AuthorizerPolicy(super_users=(f"{ANONYMOUS.type}:{ANONYMOUS.name}",))
    return draw_authorizer(options.seed)
