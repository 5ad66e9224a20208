"""Define the requests and records about access control entries as rows."""

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.rows import Row


class AccessControlEntryRecord(Row, frozen=True, kw_only=True, gc=False):
    """An access control entry."""

    id: Id
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class RemoveAccessControlEntryRecord(Row, frozen=True, kw_only=True, gc=False):
    """An access control entry is removed."""

    id: Id


class AclCreation(Row, frozen=True, kw_only=True, gc=False):
    """A wanted entry."""

    resource_type: int
    resource_name: str
    resource_pattern_type: int = 3
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0


class CreateAclsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Entries to create."""

    creations: tuple[AclCreation, ...] = ()


class AclCreationResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a wanted entry."""

    error_code: int = 0


class CreateAclsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of CreateAcls."""

    results: tuple[AclCreationResult, ...] = ()


class DeleteAclsFilter(Row, frozen=True, kw_only=True, gc=False):
    """A filter of entries; null stands for any text."""

    resource_type_filter: int
    resource_name_filter: str | None = None
    pattern_type_filter: int = 3
    principal_filter: str | None = None
    host_filter: str | None = None
    operation: int = 0
    permission_type: int = 0


class DeleteAclsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Filters of entries to delete."""

    filters: tuple[DeleteAclsFilter, ...] = ()


class DeleteAclsMatchingAcl(Row, frozen=True, kw_only=True, gc=False):
    """A deleted entry."""

    error_code: int = 0
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 3
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0


class DeleteAclsFilterResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a filter."""

    error_code: int = 0
    matching_acls: tuple[DeleteAclsMatchingAcl, ...] = ()


class DeleteAclsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of DeleteAcls."""

    filter_results: tuple[DeleteAclsFilterResult, ...] = ()
