r"""Map the distinguished name of a certificate to a user name (ssl.principal.mapping.rules).

A rule is DEFAULT, or `RULE:pattern/replacement/` with an optional L or U at the end, which turns
the result into lower or upper case. The first rule whose pattern matches the whole name applies.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_RULE: Final = re.compile(
    r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|$)"
)
_GROUP: Final = re.compile(r"\$(\d+)")


class MappingRuleError(ValueError):
    """The text is no list of rules."""


class MappingRule(Struct, frozen=True):
    """A rule; a pattern of None keeps the name."""

    pattern: str | None = None
    replacement: str = ""
    case: str = ""
    """Empty, L or U."""


DEFAULT_RULES: Final = (MappingRule(),)


def parse_mapping_rules(text: str) -> tuple[MappingRule, ...]:
    """Return the rules of a configuration.

    Raises:
        MappingRuleError: the text is no list of rules, or a pattern is no regular expression.
    """
    rules: list[MappingRule] = []
    position = 0
    while position < len(text):
        found = _RULE.match(text, position)
        if found is None:
            raise MappingRuleError(f"{text[position:]!r} is not RULE:pattern/replacement/[LU]")
        default, pattern, replacement, case = found.groups()
        rules.append(MappingRule() if default else MappingRule(pattern, replacement, case))
        if pattern is not None:
            try:
                groups = re.compile(pattern).groups
            except re.error as error:
                raise MappingRuleError(f"{pattern!r} is no regular expression: {error}") from error
            if any(int(number) > groups for number in _GROUP.findall(replacement)):
                raise MappingRuleError(f"{replacement!r} names a group that {pattern!r} lacks")
        position = found.end()
    return tuple(rules) or DEFAULT_RULES


def map_name(rules: Sequence[MappingRule], name: str) -> str | None:
    """Return the user name of a distinguished name; None without a rule that matches."""
    for rule in rules:
        if rule.pattern is None:
            return name
        found = re.fullmatch(rule.pattern, name)
        if found is None:
            continue
        return _in_case(_replaced(rule.replacement, found), rule.case)
    return None


def _replaced(replacement: str, found: "re.Match[str]") -> str:
    """Return the replacement with the groups of the match."""
    return _GROUP.sub(lambda group: found.group(int(group[1])) or "", replacement)


def _in_case(text: str, case: str) -> str:
    match case:
        case "L":
            return text.lower()
        case "U":
            return text.upper()
        case _:
            return text
