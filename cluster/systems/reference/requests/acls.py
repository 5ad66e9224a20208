"""Draw changes of access control entries: legal mostly, at and beyond the limits.

Entries and filters name topics of the vocabulary only, so that no other client loses a right.
"""

from random import Random
from typing import Any, Final

from kraftproof.cluster.systems.reference.requests.vocabulary import (
    LEGAL,
    PREFIX,
    Vocabulary,
    draw_number,
    draw_text,
)
from kraftproof.node.wire.messages import (
    create_acls_request,
    delete_acls_request,
    describe_acls_request,
)

TOPIC, ANY = 2, 1
LITERAL, PREFIXED = 3, 4
PRINCIPALS: Final = ("User:ann", "User:bob", "User:*")
HOSTS: Final = ("*", "*", "*", "127.0.0.1", "10.0.0.1")
OPERATIONS: Final = (2, 3, 3, 4, 5, 6, 7, 8, 8, 10, 11)
SIZES: Final = (0, 1, 1, 1, 2, 5)
WRONG_SHARE: Final = 0.08
"""Share of the fields with a value that may be illegal."""


def create(random: Random, vocabulary: Vocabulary) -> create_acls_request.CreateAclsRequest:
    """Return a CreateAcls with any number of entries, good and bad."""
    del vocabulary
    creations = tuple(
        create_acls_request.AclCreation(
            resource_type=_number(random, (TOPIC,)),
            resource_name=_name(random),
            resource_pattern_type=_number(random, (LITERAL, LITERAL, PREFIXED)),
            principal=_text(random, PRINCIPALS),
            host=random.choice(HOSTS),
            operation=_number(random, OPERATIONS),
            permission_type=_number(random, (2, 3, 3)),
        )
        for _ in range(random.choice(SIZES))
    )
    return create_acls_request.CreateAclsRequest(creations=creations)


def delete(random: Random, vocabulary: Vocabulary) -> delete_acls_request.DeleteAclsRequest:
    """Return a DeleteAcls with any number of filters, each about a topic of the vocabulary."""
    del vocabulary
    filters = tuple(
        delete_acls_request.DeleteAclsFilter(**_filter(random)) for _ in range(random.choice(SIZES))
    )
    return delete_acls_request.DeleteAclsRequest(filters=filters)


def describe(random: Random, vocabulary: Vocabulary) -> describe_acls_request.DescribeAclsRequest:
    """Return a DescribeAcls."""
    del vocabulary
    return describe_acls_request.DescribeAclsRequest(**_filter(random))


def _filter(random: Random) -> dict[str, Any]:
    return {
        "resource_type_filter": _number(random, (TOPIC, ANY)),
        "resource_name_filter": _name(random),
        "pattern_type_filter": _number(random, (LITERAL, PREFIXED, ANY, 2)),
        "principal_filter": random.choice((None, *PRINCIPALS)),
        "host_filter": random.choice((None, None, "*")),
        "operation": _number(random, (ANY, ANY, *OPERATIONS)),
        "permission_type": _number(random, (ANY, ANY, 2, 3)),
    }


def _name(random: Random) -> str:
    """Return a topic of the vocabulary, a prefix of several, or rarely an empty name."""
    drawn = random.random()
    if drawn < 0.03:
        return ""
    prefixes = (PREFIX, f"{PREFIX}-", f"{PREFIX}-1")
    return random.choice(LEGAL) if drawn < 0.6 else random.choice(prefixes)


def _number(random: Random, legal: tuple[int, ...]) -> int:
    return draw_number(random) if random.random() < WRONG_SHARE else random.choice(legal)


def _text(random: Random, legal: tuple[str, ...]) -> str:
    return draw_text(random) if random.random() < WRONG_SHARE else random.choice(legal)
