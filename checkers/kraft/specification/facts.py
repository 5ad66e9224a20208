"""The configuration of a cluster, as far as the right answers depend on it."""

from collections.abc import Mapping

from msgspec import Struct


class Facts(Struct, frozen=True, kw_only=True):
    """The constants of a cluster."""

    cluster_id: str
    default_partitions: int = 1
    """The value of num.partitions."""
    default_replication_factor: int = 1
    """The value of default.replication.factor."""
    feature_levels: Mapping[str, tuple[int, int]] | None = None
    """The levels of features that a controller of the cluster supports; None if unknown."""
    voters: frozenset[int] | None = None
    """The ids of the controllers of the quorum; None if unknown."""
    has_authorizer: bool = False
    """Whether the nodes have an authorizer."""
    super_users: frozenset[str] = frozenset()
    """The principals that may do everything, such as User:admin."""
    allows_without_acl: bool = False
    """The value of allow.everyone.if.no.acl.found."""
