"""Load the classes that a server.properties names: the principal builder and the topic policy.

A class of Kafka's own is known by its Java name. Any other name is the path of a Python class,
`package.module.Class`, which is created without arguments.
"""

import importlib
from typing import Any, Final

from kraftproof.node.core.base.config import CreateTopicPolicy
from kraftproof.node.properties.keys import ConfigError, Reader
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, PrincipalBuilder

BUILDER_KEY: Final = "principal.builder.class"
POLICY_KEY: Final = "create.topic.policy.class.name"
_DEFAULT_BUILDER: Final = (
    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
)
_METHODS: Final = ("build", "serialize", "deserialize")
"""The methods of a principal builder; without the last two nothing can be forwarded (590-17)."""


def read_principal_builder(reader: Reader) -> PrincipalBuilder:
    """Return the principal builder; Kafka's default without the key.

    Raises:
        ConfigError: the class can't be loaded, or lacks a method.
    """
    path = reader.text(BUILDER_KEY)
    if path is None or path == _DEFAULT_BUILDER:
        return DEFAULT_PRINCIPALS
    builder = _instance(BUILDER_KEY, path)
    missing = [name for name in _METHODS if not callable(getattr(builder, name, None))]
    if missing:
        raise ConfigError(
            f"{BUILDER_KEY}={path}: the class lacks {' and '.join(missing)}; a principal builder "
            f"needs {', '.join(_METHODS)}"
        )
    loaded: PrincipalBuilder = builder
    return loaded


def read_create_topic_policy(reader: Reader) -> CreateTopicPolicy | None:
    """Return the `validate` method of the topic policy; None without the key.

    Raises:
        ConfigError: the class can't be loaded, or lacks the method.
    """
    path = reader.text(POLICY_KEY)
    if path is None:
        return None
    policy = _instance(POLICY_KEY, path)
    if not callable(getattr(policy, "validate", None)):
        raise ConfigError(f"{POLICY_KEY}={path}: the class lacks validate")
    validate: CreateTopicPolicy = policy.validate
    return validate


def _instance(key: str, path: str) -> Any:  # noqa: ANN401 - the class is the user's
    module_name, _, class_name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module_name), class_name)()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigError(
            f"{key}={path}: is no Python class that can be created ({reason})"
        ) from error
