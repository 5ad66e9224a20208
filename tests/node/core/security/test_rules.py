"""Names of certificates, JAAS lines, PLAIN, and secrets that show themselves nowhere."""

import pytest

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.mapping_rules import (
    MappingRuleError,
    map_name,
    parse_mapping_rules,
)
from kraftproof.node.core.security.plain import judge_plain
from kraftproof.node.properties.jaas import parse_jaas
from kraftproof.node.properties.keys import ConfigError

NAME = "CN=Alice.Example,OU=Orders,O=Example\\, Inc.,C=DE"


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ("DEFAULT", NAME),
        ("RULE:^CN=(.*?),.*$/$1/", "Alice.Example"),
        ("RULE:^CN=(.*?),.*$/$1/L", "alice.example"),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/$2-$1/U, DEFAULT", "ORDERS-ALICE.EXAMPLE"),
        ("RULE:^OU=(.*)$/$1/,DEFAULT", NAME),
        ("RULE:^OU=(.*)$/$1/", None),
        (r"RULE:^CN=(.*?),OU=.*\/.*$/$1/,RULE:^CN=([^.]*)\..*$/$1/L", "alice"),
    ],
)
def test_the_first_rule_that_matches_names_the_user(rules: str, name: str | None) -> None:
    assert map_name(parse_mapping_rules(rules), NAME) == name


@pytest.mark.parametrize("rules", ["RULE:x", "RULE:(/$1/", "RULE:a/$1/", "OTHER", "RULE:a/b/X"])
def test_a_wrong_rule_is_refused(rules: str) -> None:
    with pytest.raises(MappingRuleError):
        parse_mapping_rules(rules)


def test_a_line_of_jaas_has_quoted_and_bare_options() -> None:
    line = parse_jaas(
        "k", 'a.b.PlainLoginModule required username="a\\"b" password=x\\y user_c="d; e"\n f=\'g\';'
    )
    assert line.module == "PlainLoginModule"
    assert line.options == {"username": 'a"b', "password": "x\\y", "user_c": "d; e", "f": "g"}


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_backslash_in_quotes_escapes_as_in_kafkas_reader_of_jaas(quote: str) -> None:
    text = r"\\ \" \' \a\b\f\n\r\t\v \q \0\101\377\400\78"
    line = parse_jaas("k", f"PlainLoginModule required password={quote}{text}{quote};")
    expected = "\\ \" ' \a\b\f\n\r\t\v q \0A\xff 0\x078"
    assert line.options == {"password": expected}


@pytest.mark.parametrize(
    "text", ["", "PlainLoginModule required password=hunter2", "A b c=hunter2;"]
)
def test_a_wrong_line_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_jaas("plain.sasl.jaas.config", text)
    assert "hunter2" not in str(caught.value)
    assert "plain.sasl.jaas.config" in str(caught.value)


def test_plain_compares_user_password_and_authorization_id() -> None:
    users = {"alice": Secret("right")}
    assert judge_plain(users, b"\0alice\0right") == "alice"
    assert judge_plain(users, b"alice\0alice\0right") == "alice"
    wrong = (
        b"\0alice\0wrong",
        b"\0alice\0",
        b"\0\0right",
        b"bob\0alice\0right",
        b"x",
        b"\0bob\0right",
    )
    for data in wrong:
        with pytest.raises(LoginError) as caught:
            judge_plain(users, data)
        assert "right" not in str(caught.value)


def test_a_secret_shows_itself_in_no_text() -> None:
    secret = Secret("hunter2")
    shown = [f"{secret}", repr(secret), str([secret]), str({"a": secret})]
    assert not any("hunter2" in text for text in shown)
    assert secret == Secret("hunter2") != Secret("other")
