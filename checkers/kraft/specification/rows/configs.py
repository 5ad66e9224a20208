"""Define requests and answers about configurations as rows, by the names of Kafka's schemas."""

from kraftproof.checkers.kraft.specification.rows import Row


class Alteration(Row, frozen=True, kw_only=True, gc=False):
    """A change of a configuration: 0 set, 1 delete, 2 append, 3 subtract."""

    name: str
    config_operation: int = 0
    value: str | None = None


class AlteredResource(Row, frozen=True, kw_only=True, gc=False):
    """The changes of a resource; in AlterConfigs, all of its configurations."""

    resource_type: int
    resource_name: str
    configs: tuple[Alteration, ...] = ()


class IncrementalAlterConfigsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Changes of single configurations."""

    resources: tuple[AlteredResource, ...]
    validate_only: bool = False


class AlterConfigsRequest(Row, frozen=True, kw_only=True, gc=False):
    """New configurations in place of all old ones."""

    resources: tuple[AlteredResource, ...]
    validate_only: bool = False


class ResourceResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a resource."""

    resource_type: int
    resource_name: str
    error_code: int = 0


class IncrementalAlterConfigsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of IncrementalAlterConfigs."""

    responses: tuple[ResourceResult, ...]


class AlterConfigsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AlterConfigs."""

    responses: tuple[ResourceResult, ...]
