"""Define requests about features, controllers and log directories as rows."""

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.rows import Feature, Listener, Row


class FeatureUpdate(Row, frozen=True, kw_only=True, gc=False):
    """The wanted level of a feature; 1 upgrade, 2 safe and 3 unsafe downgrade."""

    feature: str
    max_version_level: int
    allow_downgrade: bool = False
    upgrade_type: int = 1


class UpdateFeaturesRequest(Row, frozen=True, kw_only=True, gc=False):
    """Levels to finalize, or only to validate."""

    feature_updates: tuple[FeatureUpdate, ...] = ()
    validate_only: bool = False


class FeatureResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a feature."""

    feature: str
    error_code: int = 0


class UpdateFeaturesResponse(Row, frozen=True, kw_only=True, gc=False):
    """The result of UpdateFeatures, with one of each feature."""

    error_code: int = 0
    results: tuple[FeatureResult, ...] = ()


class ControllerRegistrationRequest(Row, frozen=True, kw_only=True, gc=False):
    """A controller registers its listeners and features (KIP-919)."""

    controller_id: int
    incarnation_id: Id
    listeners: tuple[Listener, ...] = ()
    features: tuple[Feature, ...] = ()


class ControllerRegistrationResponse(Row, frozen=True, kw_only=True, gc=False):
    """The result of ControllerRegistration."""

    error_code: int = 0


class PlacedPartition(Row, frozen=True, kw_only=True, gc=False):
    """A partition in a directory, and in the answer its error."""

    partition_index: int
    error_code: int = 0


class PlacedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The partitions of a topic in a directory."""

    topic_id: Id
    partitions: tuple[PlacedPartition, ...] = ()


class Directory(Row, frozen=True, kw_only=True, gc=False):
    """The partitions in a directory."""

    id: Id
    topics: tuple[PlacedTopic, ...] = ()


class AssignReplicasToDirsRequest(Row, frozen=True, kw_only=True, gc=False):
    """The directories of a broker's replicas (KIP-858)."""

    broker_id: int
    broker_epoch: int
    directories: tuple[Directory, ...] = ()


class AssignReplicasToDirsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AssignReplicasToDirs, in the form of the request."""

    error_code: int = 0
    directories: tuple[Directory, ...] = ()
