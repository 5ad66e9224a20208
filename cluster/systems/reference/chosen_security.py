"""Secure the live nodes of a run: an authorizer, logins and TLS on every listener.

A run chooses by `--node-config`: `authorizer.class.name`, `sasl.enabled.mechanisms` with one
mechanism, and `security.inter.broker.protocol` for TLS. The harness adds the other entries. Nodes
and the harness's clients are one super user.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.core.security.mechanisms import MECHANISMS, PLAIN
from kraftproof.node.properties.authorizer import CLASS_KEY, STANDARD, SUPER_USERS_KEY
from kraftproof.node.properties.keys import ConfigError
from kraftproof.spelling import nearest

MECHANISM_KEY: Final = "sasl.enabled.mechanisms"
PROTOCOL_KEY: Final = "security.inter.broker.protocol"
"""The protocol of every listener, those of controllers included."""
SECURITY_KEYS: Final = (CLASS_KEY, MECHANISM_KEY, PROTOCOL_KEY)
USER: Final = "kraftproof"
PASSWORD: Final = "password of a test cluster"  # noqa: S105 - of clusters that a run makes
OF_SIMULATION: Final = "only live nodes can have that, on local, docker and ssh"
OF_WORKLOAD: Final = "the workload sets the authorizer and the logins itself; take another workload"
OF_WORKLOAD_LOGINS: Final = "the workload adds the logins itself; take SSL"
_MODULES: Final = "org.apache.kafka.common.security"


def refuse_security(settings: Mapping[str, str]) -> None:
    """Refuse an authorizer, a mechanism or a protocol that the nodes do not have.

    Raises:
        ConfigError: one line that names the key.
    """
    authorizer = settings.get(CLASS_KEY, STANDARD)
    if authorizer != STANDARD:
        raise ConfigError(f"{CLASS_KEY}={authorizer}: the only authorizer is {STANDARD}")
    mechanism = settings.get(MECHANISM_KEY, PLAIN)
    if mechanism not in MECHANISMS:
        raise ConfigError(
            f"{MECHANISM_KEY}={mechanism}{nearest(mechanism, MECHANISMS)}: is none of "
            f"{', '.join(MECHANISMS)}"
        )
    name = settings.get(PROTOCOL_KEY)
    if name is None:
        return
    protocol = SecurityProtocol.__members__.get(name)
    if protocol is None:
        known = SecurityProtocol.__members__
        raise ConfigError(
            f"{PROTOCOL_KEY}={name}{nearest(name, known)}: is none of {', '.join(known)}"
        )
    if protocol.has_sasl and MECHANISM_KEY not in settings:
        raise ConfigError(f"{PROTOCOL_KEY}={name}: needs {MECHANISM_KEY} with one mechanism")
    if MECHANISM_KEY in settings and not protocol.has_sasl:
        raise ConfigError(f"{PROTOCOL_KEY}={name}: with {MECHANISM_KEY} take SASL_{name}")


def refuse_any_security(entries: Iterable[tuple[str, str]], reason: str) -> None:
    """Refuse settings of security where a run can have none.

    Raises:
        ConfigError: one line that names the key and the reason.
    """
    for key, _ in entries:
        if key in SECURITY_KEYS:
            raise ConfigError(f"{key}: {reason}")


def refuse_beside_workload(settings: Mapping[str, str]) -> None:
    """Refuse what a workload about security sets itself; TLS may be chosen.

    Raises:
        ConfigError: one line that names the key and the reason.
    """
    refuse_any_security(
        ((key, settings[key]) for key in settings if key != PROTOCOL_KEY), OF_WORKLOAD
    )
    protocol = settings.get(PROTOCOL_KEY, "")
    if protocol.startswith("SASL_"):
        raise ConfigError(f"{PROTOCOL_KEY}={protocol}: {OF_WORKLOAD_LOGINS}")


def has_tls(settings: Mapping[str, str]) -> bool:
    """Return whether the listeners of a run have TLS."""
    return SecurityProtocol[settings.get(PROTOCOL_KEY, "PLAINTEXT")].has_tls


def security_settings(settings: Mapping[str, str], listener: str) -> dict[str, str]:
    """Return the entries that follow from the settings of a run, for a node's own `listener`."""
    entries: dict[str, str] = {}
    mechanism = settings.get(MECHANISM_KEY)
    is_named = mechanism is not None or has_tls(settings)
    if CLASS_KEY in settings:
        entries[SUPER_USERS_KEY] = f"User:{USER}" if is_named else "User:ANONYMOUS"
    if not is_named:
        return entries
    names = dict.fromkeys((listener, "CONTROLLER"))
    protocol = settings.get(PROTOCOL_KEY, "SASL_PLAINTEXT")
    entries["listener.security.protocol.map"] = ",".join(f"{name}:{protocol}" for name in names)
    if mechanism is None:
        return entries
    line = _jaas_line(mechanism)
    jaas = f"{mechanism.lower()}.sasl.jaas.config"
    return entries | {
        "sasl.mechanism.controller.protocol": mechanism,
        "sasl.mechanism.inter.broker.protocol": mechanism,
        **{f"listener.name.{name.lower()}.{jaas}": line for name in names},
    }


def first_credentials(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options of the format command with the credential of nodes and harness."""
    mechanism = settings.get(MECHANISM_KEY, PLAIN)
    if mechanism == PLAIN:
        return ()
    return ("--add-scram", f"{mechanism}=[name={USER},password={PASSWORD}]")


def harness_login(options: ClusterOptions) -> ClientLogin | None:
    """Return the login of the harness's clients; None without logins."""
    mechanism = dict(options.node_config).get(MECHANISM_KEY)
    if mechanism is None:
        return None
    return ClientLogin(mechanism=mechanism, username=USER, password=Secret(PASSWORD))


def _jaas_line(mechanism: str) -> str:
    own = f'username="{USER}" password="{PASSWORD}"'
    if mechanism == PLAIN:
        return f'{_MODULES}.plain.PlainLoginModule required {own} user_{USER}="{PASSWORD}";'
    return f"{_MODULES}.scram.ScramLoginModule required {own};"
