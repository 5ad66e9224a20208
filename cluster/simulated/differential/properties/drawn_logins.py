"""Draw the logins of listeners with SASL, and state the rules and the own logins that follow."""

from collections.abc import Mapping
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.properties.jaas import written_line
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_policy import ClientLogin, LoginPolicy

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PASSWORDS: Final = ("secret-1", 'qu"ote', "back\\slash", "semi;colon", "a b", "é'")
INT: Final = 2_147_483_647
MODULES: Final = {"PLAIN": "PlainLoginModule"}


def module_of(mechanism: str) -> str:
    """Return the login module of a mechanism."""
    return MODULES.get(mechanism, "ScramLoginModule")


def jaas_key(mechanism: str) -> str:
    """Return the key of a mechanism's line of JAAS."""
    return f"{mechanism.lower()}.sasl.jaas.config"


class DrawnLogins(Struct, frozen=True, kw_only=True):
    """The values of a listener with SASL."""

    values: dict[str, str]
    policy: LoginPolicy
    logins: Mapping[str, ClientLogin]
    """The login of this node by each mechanism."""


def draw_logins(random: Random, secret: str | None) -> DrawnLogins:
    """Draw the mechanisms, users and limits of a listener."""
    mechanisms = tuple(random.sample(MECHANISMS, random.randint(1, 3)))
    values = {"sasl.enabled.mechanisms": random.choice((",", ", ")).join(mechanisms)}
    users: dict[str, str] = {}
    logins: dict[str, ClientLogin] = {}
    for mechanism in MECHANISMS:
        user, password = random.choice(("node", "b-c")), random.choice(PASSWORDS)
        options = {"username": user, "password": password}
        is_token = random.random() < 0.3
        if is_token or random.random() < 0.2:
            options["tokenauth"] = random.choice(("true", "True")) if is_token else "false"
        if mechanism == "PLAIN":
            users = {
                name: random.choice((*PASSWORDS, ""))
                for name in random.sample(("node", "alice", "b_c"), random.randint(0, 3))
            }
            options |= {f"user_{name}": word for name, word in users.items()}
        values[jaas_key(mechanism)] = written_line(random, module_of(mechanism), options)
        logins[mechanism] = ClientLogin(
            mechanism=mechanism, username=user, password=Secret(password), is_token=is_token
        )
    size, reauth_ms = (
        _draw_number(random, values, "sasl.server.max.receive.size", 64, 524_288),
        _draw_number(random, values, "connections.max.reauth.ms", 0, 0),
    )
    shown = {name: Secret(word) for name, word in users.items()}
    return DrawnLogins(
        values=values,
        policy=LoginPolicy(
            mechanisms=mechanisms,
            plain_users=shown if "PLAIN" in mechanisms else {},
            max_receive_bytes=size,
            max_reauth_ms=reauth_ms,
            token_secret=None if secret is None else Secret(secret),
        ),
        logins=logins,
    )


def _draw_number(random: Random, values: dict[str, str], key: str, least: int, default: int) -> int:
    if random.random() < 0.5:
        return default
    value = random.choice((least, least + 1, INT))
    values[key] = str(value)
    return value
