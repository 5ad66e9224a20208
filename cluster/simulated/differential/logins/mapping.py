"""Draw rules of ssl.principal.mapping.rules and names, and map the names by the parts of a rule.

The rules are those of Kafka: the first rule whose pattern matches the whole name applies, `$N` is
the text of a group, and L or U turns the result into lower or upper case.
"""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import named, refused, same
from kraftproof.node.core.security.mapping_rules import (
    MappingRuleError,
    map_name,
    parse_mapping_rules,
)

KEYS: Final = ("CN", "OU", "O")
VALUES: Final = ("Alice", "Bob B.", "ops", "Sales", "")
LISTS: Final = 8
NAMES: Final = 5
WRONG: Final = (
    *("RULE:^CN=(.*$/$1/", "RULE:CN/$1/", "RULE:(a)/$2/", "RULE:a/b", "RULE:a/b/X", "rule:a/b/"),
    *("DEFAULT DEFAULT", "DEFAULT;DEFAULT", "RULE:a", "something", "RULE:[/a/"),
)
"""Texts that are no rules: a wrong pattern, a group that is missing, or another form."""


class _Rule(Struct, frozen=True, kw_only=True):
    """A rule by its parts; a rule without parts keeps the name."""

    parts: tuple[str | None, ...] = ()
    """For each key of a name the required value; None takes any value as a group."""
    has_rest: bool = False
    """Whether the last key may have any value, in a group that is not used."""
    replacement: tuple[str | int, ...] = ()
    case: str = ""

    @property
    def text(self) -> str:
        """The rule in a configuration."""
        if not self.parts:
            return "DEFAULT"
        written = [
            f"{key}={'([^,]*)' if value is None else value.replace('.', chr(92) + '.')}"
            for key, value in zip(KEYS, self.parts, strict=False)
        ]
        pattern = ",".join(written) + (",.*" if self.has_rest else "")
        shown = "".join(one if isinstance(one, str) else f"${one}" for one in self.replacement)
        return f"RULE:{pattern}/{shown}/{self.case}"

    def mapped(self, values: tuple[str, ...]) -> str | None:
        """Return the name of a user for the values of a distinguished name."""
        if not self.parts:
            return ",".join(f"{key}={value}" for key, value in zip(KEYS, values, strict=True))
        if len(self.parts) < len(KEYS) and not self.has_rest:
            return None
        pairs = list(zip(self.parts, values, strict=False))
        if any(part is not None and part != value for part, value in pairs):
            return None
        groups = [value for part, value in pairs if part is None]
        found = "".join(
            one if isinstance(one, str) else groups[one - 1] for one in self.replacement
        )
        return {"L": found.lower(), "U": found.upper()}.get(self.case, found)


def compare_mapping_rules(random: Random) -> None:
    """Compare names by drawn rules with their parts.

    Raises:
        DifferenceError: a name is mapped to another user, or wrong rules are taken.
    """
    for _ in range(LISTS):
        _compare_list(random)


def _compare_list(random: Random) -> None:
    if random.random() < 0.2:
        wrong = random.choice(WRONG)
        text = random.choice((wrong, f"DEFAULT, {wrong}", f"RULE:a/b/L,{wrong}"))
        refused(f"the rules {text!r}", MappingRuleError, parse_mapping_rules, text)
        return
    if random.random() < 0.05:
        error = refused("a list", MappingRuleError, parse_mapping_rules, "RULE:a/b/, c")
        named("a list with a word", error, "c")
    rules = [_drawn(random) for _ in range(random.randrange(5))]
    separators = (",", ", ", " ,", " , ")
    text = "".join(rule.text + random.choice(separators) for rule in rules[:-1])
    text += "".join(rule.text for rule in rules[-1:])
    text = random.choice(("", " ")) + text if rules else ""
    parsed = parse_mapping_rules(text)
    for _ in range(NAMES):
        values = tuple(random.choice(VALUES) for _ in KEYS)
        name = ",".join(f"{key}={value}" for key, value in zip(KEYS, values, strict=True))
        mapped = (rule.mapped(values) for rule in rules or [_Rule()])
        expected = next((one for one in mapped if one is not None), None)
        same(f"{name} by {text!r}", map_name(parsed, name), expected)


def _drawn(random: Random) -> _Rule:
    if random.random() < 0.15:
        return _Rule()
    count = random.randint(1, len(KEYS))
    parts = tuple(random.choice((None, None, random.choice(VALUES))) for _ in range(count))
    groups = sum(part is None for part in parts)
    pieces: list[str | int] = ["user-", "@", "Ops"]
    pieces += [random.randint(1, groups) for _ in range(3)] if groups else []
    return _Rule(
        parts=parts,
        has_rest=count < len(KEYS) and random.random() < 0.8,
        replacement=tuple(random.sample(pieces, random.randint(0, len(pieces)))),
        case=random.choice(("", "", "L", "U")),
    )
