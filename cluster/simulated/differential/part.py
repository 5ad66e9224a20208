"""Define a comparison of a part of the node's code with its reference."""

from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

WIRE: Final = "kraftproof.node.wire"
STORAGE: Final = "kraftproof.node.storage"
SHELL: Final = "kraftproof.node.shell"
TABLES: Final = (
    "kraftproof.node.core.base.config",
    "kraftproof.node.core.base.directory_ids",
    "kraftproof.node.core.configs.broker_keys",
    "kraftproof.node.core.metadata.version",
    "kraftproof.node.core.security.required",
    "kraftproof.node.core.served",
)
"""Modules of the core with tables of Kafka."""
CONTROLLER: Final = (
    "kraftproof.node.core.controller",
    "kraftproof.node.core.metadata",
    "kraftproof.node.core.configs",
    "kraftproof.node.core.quotas.mutations",
    *(
        f"kraftproof.node.core.security.{name}"
        for name in ("authorizer", "credentials", "describe", "tokens")
    ),
    *(
        f"kraftproof.node.core.{name}"
        for name in ("audit", "gate", "outbox", "own_answers", "snapshots")
    ),
)
"""Packages of the controller's decisions, of the image, and of the parts around them."""
PARTITION: Final = "kraftproof.node.core.partition"
DATA: Final = "kraftproof.node.core.broker.data"
BROKER: Final = "kraftproof.node.core.broker"
SERVER: Final = "kraftproof.node.server"
RIGHTS: Final = (
    "kraftproof.node.core.security.authorizer",
    "kraftproof.node.core.security.required",
    "kraftproof.node.core.metadata.acl_index",
)
"""Modules that decide about rights."""
LOGINS: Final = tuple(
    f"kraftproof.node.core.security.{name}"
    for name in (
        *("client_dialog", "credentials", "mapping_rules", "mechanisms"),
        *("plain", "sasl_state", "scram", "tokens"),
    )
)
"""Modules of logins, of tokens and of the names of certificates."""
QUOTAS: Final = "kraftproof.node.core.quotas"
CONFIGS: Final = "kraftproof.node.core.configs"
RAFT: Final = ("kraftproof.node.core.raft", "kraftproof.node.core.log.")
"""The quorum, and the metadata log in memory."""
PROPERTIES: Final = "kraftproof.node.properties"
PACKAGES: Final = (
    WIRE,
    STORAGE,
    SHELL,
    SERVER,
    PARTITION,
    DATA,
    BROKER,
    QUOTAS,
    CONFIGS,
    PROPERTIES,
    *RIGHTS,
    *LOGINS,
    *TABLES,
    *CONTROLLER,
    *RAFT,
)
"""Every package with a comparison."""
Compare = Callable[[Random], None]


class Comparison(NamedTuple):
    """A part of the node's code with its reference."""

    invariant: str
    statement: str
    packages: tuple[str, ...]
    """The packages whose code is compared."""
    compare: Compare
    is_at_end: bool = False
    """Whether the invariants of the run come first: the comparison follows the final phase."""
