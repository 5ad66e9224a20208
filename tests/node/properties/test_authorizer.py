"""The keys of the authorizer in a server.properties, and one clear line for each mistake."""

import pytest

from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.properties.authorizer import STANDARD
from kraftproof.node.properties.keys import ConfigError
from tests.node.properties.test_config import parse

CLASS = {"authorizer.class.name": STANDARD}


def test_without_a_class_there_is_no_authorizer() -> None:
    assert parse().node.authorizer is None
    assert parse({"super.users": "User:a"}).node.authorizer is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, AuthorizerPolicy()),
        ({"super.users": "User:a"}, AuthorizerPolicy(super_users=("User:a",))),
        (
            {"super.users": " User:a ; User:CN=b ;"},
            AuthorizerPolicy(super_users=("User:a", "User:CN=b")),
        ),
        (
            {"super.users": "User:CN=a,OU=b, O=c;User:d"},
            AuthorizerPolicy(super_users=("User:CN=a,OU=b, O=c", "User:d")),
        ),
        (
            {"allow.everyone.if.no.acl.found": "TRUE"},
            AuthorizerPolicy(allows_without_acl=True),
        ),
        ({"allow.everyone.if.no.acl.found": "false"}, AuthorizerPolicy()),
        ({"audit.log.level": "DEBUG"}, AuthorizerPolicy(logs_allowed=True)),
    ],
)
def test_the_rules(changes, expected) -> None:
    assert parse({**CLASS, **changes}).node.authorizer == expected


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"},
            "authorizer.class.name=kafka.security.authorizer.AclAuthorizer: is not known; "
            f"the only authorizer is {STANDARD}",
        ),
        (
            {"super.users": "a"},
            "super.users=a: 'a' is no principal; for example User:alice;User:bob",
        ),
        (
            {"super.users": "User:a,User:b"},
            "super.users=User:a,User:b: 'User:a,User:b' is no principal; "
            "for example User:alice;User:bob",
        ),
        (
            {"allow.everyone.if.no.acl.found": "yes"},
            "allow.everyone.if.no.acl.found=yes: is not valid, true or false is expected",
        ),
        (
            {"audit.log.level": "WARN"},
            "audit.log.level=WARN: is not valid, INFO or DEBUG is expected",
        ),
        (
            {"early.start.listeners": "OTHER"},
            "early.start.listeners=OTHER: 'OTHER' is none of the listeners PLAINTEXT, CONTROLLER",
        ),
    ],
)
def test_mistakes(changes, line) -> None:
    with pytest.raises(ConfigError) as raised:
        parse({**CLASS, **changes})
    assert str(raised.value) == line


def test_listeners_that_open_early() -> None:
    assert parse().early_listeners == ()
    assert parse({"early.start.listeners": "PLAINTEXT"}).early_listeners == ("PLAINTEXT",)
