"""Define the audit log: an effect for each decision, and its line (KIP-590 "Security").

A denial has the level INFO and a permission the level DEBUG, as in Kafka. The principal and the
address are those of the original client, even if a broker has forwarded the request (590-18).
"""

from msgspec import Struct

from kraftproof.node.core.metadata.acls import Operation, ResourceKind

_LONGEST_NAME = 260
"""Maximum number of characters of a name in the log; a topic has at most 249."""


class Audited(Struct, frozen=True, kw_only=True):
    """An authorizer has decided."""

    principal: str
    host: str
    operation: Operation
    kind: ResourceKind
    name: str
    is_allowed: bool


def audit_line(decision: Audited) -> str:
    """Return the line of a decision; control characters are escaped, since clients choose names."""
    level, verdict = ("DEBUG", "Allowed") if decision.is_allowed else ("INFO", "Denied")
    principal, name = (
        text[:_LONGEST_NAME].encode("unicode_escape").decode()
        for text in (decision.principal, decision.name)
    )
    return (
        f"{level} Principal = {principal} is {verdict} operation = {decision.operation.name} "
        f"from host = {decision.host} on resource = {decision.kind.name}:LITERAL:{name} "
        "with resourceRefCount = 1"
    )
