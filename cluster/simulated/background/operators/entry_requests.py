"""Draw requests about access control entries of few names, of which some are prefixes of others.

The entries are about users and topics of no other client, so that nobody loses a right.
"""

from random import Random
from typing import Any, Final

from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.messages import (
    Message,
    create_acls_request,
    delete_acls_request,
    describe_acls_request,
)

NAMES: Final = ("__admin", "__admin-0", "__admin-00", "__admin-1", "__adm")
PRINCIPALS: Final = ("User:__ann", "User:__bob")
HOSTS: Final = ("*", "10.0.0.9")
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
KINDS: Final = (2, 2, 2, 3)
OPERATIONS: Final = (2, 3, 4, 8, 10)


def create_entries(random: Random, _: Vocabulary) -> Message:
    """Return the creation of a few entries, of which some exist already."""
    module = create_acls_request
    creations = tuple(
        module.AclCreation(
            resource_type=random.choice(KINDS),
            resource_name=random.choice((*NAMES, "*")),
            resource_pattern_type=random.choice((LITERAL, PREFIXED)),
            principal=random.choice(PRINCIPALS),
            host=random.choice(HOSTS),
            operation=random.choice(OPERATIONS),
            permission_type=3,
        )
        for _ in range(random.choice((1, 2, 4)))
    )
    return module.CreateAclsRequest(creations=creations)


def delete_entries(random: Random, _: Vocabulary) -> Message:
    """Return the deletion of the entries of one or two filters, which may select the same."""
    module = delete_acls_request
    filters = tuple(
        module.DeleteAclsFilter(**_filter(random)) for _ in range(random.choice((1, 1, 2)))
    )
    return module.DeleteAclsRequest(filters=filters)


def describe_entries(random: Random, _: Vocabulary) -> Message:
    """Return a DescribeAcls, at times with a number that is no kind."""
    return describe_acls_request.DescribeAclsRequest(**_filter(random))


def _filter(random: Random) -> dict[str, Any]:
    """Return a filter about names of the administrators."""
    return {
        "resource_type_filter": random.choice((ANY, *KINDS, 0) if _is_seldom(random) else KINDS),
        "resource_name_filter": random.choice(NAMES),
        "pattern_type_filter": random.choice((ANY, MATCH, MATCH, LITERAL, PREFIXED)),
        "principal_filter": random.choice((None, *PRINCIPALS)),
        "host_filter": random.choice((None, None, *HOSTS)),
        "operation": random.choice((ANY, ANY, *OPERATIONS)),
        "permission_type": random.choice((ANY, 2, 3)),
    }


def _is_seldom(random: Random) -> bool:
    return random.random() < 0.2
