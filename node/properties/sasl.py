"""Read the SASL configuration of a listener or a client: mechanisms, users, and the own login."""

from collections.abc import Callable
from typing import Final

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_policy import (
    DEFAULT_RECEIVE_BYTES,
    ClientLogin,
    LoginPolicy,
)
from kraftproof.node.core.security.mechanisms import MECHANISMS, PLAIN
from kraftproof.node.properties.jaas import parse_jaas
from kraftproof.node.properties.keys import ConfigError, integer, names

Lookup = Callable[[str], tuple[str, str | None]]
_MODULES: Final = {"PLAIN": "PlainLoginModule"}
_SCRAM_MODULE: Final = "ScramLoginModule"
_USER: Final = "user_"


def read_login_policy(lookup: Lookup, token_secret: Secret | None) -> LoginPolicy:
    """Return the rules for the logins of clients.

    Raises:
        ConfigError: a mechanism is unknown, or PLAIN lacks its users.
    """
    key, value = lookup("sasl.enabled.mechanisms")
    mechanisms = names(value or "GSSAPI")
    for mechanism in mechanisms:
        _check_mechanism(key, mechanism)
    users: dict[str, Secret] = {}
    if PLAIN in mechanisms:
        _, options = _jaas(lookup, PLAIN)
        users = {
            name.removeprefix(_USER): Secret(password)
            for name, password in options.items()
            if name.startswith(_USER)
        }
    return LoginPolicy(
        mechanisms=mechanisms,
        plain_users=users,
        max_receive_bytes=_number(
            lookup, "sasl.server.max.receive.size", DEFAULT_RECEIVE_BYTES, smallest=64
        ),
        max_reauth_ms=_number(lookup, "connections.max.reauth.ms", 0),
        token_secret=token_secret,
    )


def read_node_login(lookup: Lookup, mechanism_key: str) -> ClientLogin:
    """Return the login of this node at the listeners of other nodes.

    Raises:
        ConfigError: the mechanism is unknown, or its JAAS line names no user and password.
    """
    key, value = lookup(mechanism_key)
    mechanism = value or "GSSAPI"
    _check_mechanism(key, mechanism)
    jaas_key, options = _jaas(lookup, mechanism)
    return client_login(jaas_key, mechanism, options)


def client_login(key: str, mechanism: str, options: dict[str, str]) -> ClientLogin:
    """Return the login that the options of a JAAS line describe.

    Raises:
        ConfigError: the user name or the password is missing.
    """
    for option in ("username", "password"):
        if not options.get(option):
            raise ConfigError(f"{key}: the JAAS line lacks {option}=...")
    return ClientLogin(
        mechanism=mechanism,
        username=options["username"],
        password=Secret(options["password"]),
        is_token=options.get("tokenauth", "false").lower() == "true",
    )


def read_client_login(lookup: Lookup) -> ClientLogin:
    """Return the login of a tool from sasl.mechanism and sasl.jaas.config.

    Raises:
        ConfigError: the mechanism is unknown, or the JAAS line is missing or wrong.
    """
    key, value = lookup("sasl.mechanism")
    mechanism = value or "GSSAPI"
    _check_mechanism(key, mechanism)
    jaas_key, text = lookup("sasl.jaas.config")
    return client_login(jaas_key, mechanism, _options(jaas_key, text, mechanism))


def _jaas(lookup: Lookup, mechanism: str) -> tuple[str, dict[str, str]]:
    key, text = lookup(f"{mechanism.lower()}.sasl.jaas.config")
    return key, _options(key, text, mechanism)


def _options(key: str, text: str | None, mechanism: str) -> dict[str, str]:
    module = _MODULES.get(mechanism, _SCRAM_MODULE)
    if text is None:
        raise ConfigError(f"{key}: is missing; expected {module} required username=...;")
    line = parse_jaas(key, text)
    if line.module != module:
        raise ConfigError(f"{key}: has {line.module}, expected {module} for {mechanism}")
    return dict(line.options)


def _check_mechanism(key: str, mechanism: str) -> None:
    if mechanism not in MECHANISMS:
        raise ConfigError(
            f"{key}={mechanism}: is not supported, expected one of {', '.join(MECHANISMS)}"
        )


def _number(lookup: Lookup, name: str, default: int, smallest: int = 0) -> int:
    key, value = lookup(name)
    return default if value is None else integer(key, value, smallest)
