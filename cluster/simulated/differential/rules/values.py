"""Compare the reading of configurations' values with drawn definitions, whose values are known."""

from math import inf
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import attempt, named, refused, same
from kraftproof.node.core.configs.definition import ConfigType, Definition
from kraftproof.node.core.configs.values import InvalidConfigError, parse_value

VALUES: Final = 120
BITS: Final = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
TEXTS: Final = (ConfigType.STRING, ConfigType.CLASS, ConfigType.PASSWORD)
LONGEST: Final = 32_767
CHOICES: Final = ("delete", "compact", "Both")
NAME: Final = "a.name"
Read = tuple[str, object]
"""A text with its value; None for an illegal text."""


def compare_values(random: Random) -> None:
    """Read legal and illegal texts of drawn definitions.

    Raises:
        DifferenceError: a text has another value, or is refused or accepted wrongly.
    """
    for _ in range(VALUES):
        definition = _draw(random)
        text, value = _draw_text(random, definition)
        if random.random() < 0.2 and len(text) < LONGEST:
            text = f" {text}\t"
        what = f"{definition.type.name} {text[:80]!r}"
        if value is not None:
            same(what, attempt(InvalidConfigError, parse_value, definition, text), value)
            continue
        error = refused(what, InvalidConfigError, parse_value, definition, text)
        bounds = (definition.minimum, definition.maximum, definition.also, *definition.choices)
        is_long = len(text) > LONGEST
        named(what, error, NAME, *(() if is_long else (one for one in bounds if one is not None)))


def _draw(random: Random) -> Definition:
    kind = random.choice([*ConfigType])
    bits = BITS.get(kind)
    if bits is not None:
        least = random.choice((None, -5, 0, 1, -(1 << (bits - 1))))
        most = random.choice((None, 7, (1 << (bits - 1)) - 1))
        also = random.choice((None, None, -1, -100))
        return Definition(name=NAME, type=kind, minimum=least, maximum=most, also=also)
    if kind is ConfigType.DOUBLE:
        return Definition(
            name=NAME,
            type=kind,
            minimum=random.choice((None, 0)),
            maximum=random.choice((None, 0.5)),
        )
    choices = CHOICES if random.random() < 0.5 and kind is not ConfigType.BOOLEAN else ()
    is_replicas = kind is ConfigType.LIST and random.random() < 0.5
    return Definition(
        name=NAME, type=kind, choices=() if is_replicas else choices, is_replica_list=is_replicas
    )


def _draw_text(random: Random, definition: Definition) -> Read:
    match definition.type:
        case ConfigType.BOOLEAN:
            return random.choice(
                (("true", True), ("TRUE", True), ("False", False), ("yes", None), ("", None))
            )
        case ConfigType.LIST:
            return _draw_list(random, definition)
        case ConfigType.DOUBLE:
            return _draw_decimal(random, definition)
        case kind if kind in TEXTS:
            return _draw_word(random, definition)
        case _:
            return _draw_whole(random, definition)


def _draw_word(random: Random, definition: Definition) -> Read:
    length = random.choice((0, 0, 0, LONGEST, LONGEST + 3))
    word = "x" * length or random.choice((*CHOICES, "both", "DELETE"))
    is_chosen = not definition.choices or word in definition.choices
    return (word, word if is_chosen and length <= LONGEST else None)


def _draw_list(random: Random, definition: Definition) -> Read:
    if definition.is_replica_list:
        pool = (("*", ("*",)), ("0:1", ("0:1",)), ("0:1 ,12:30", ("0:1", "12:30")), ("", ()))
        wrong = (("*,0:1", None), ("0", None), ("0:", None), ("a:1", None), ("0:1:2", None))
        return random.choice((*pool, *wrong))
    members = tuple(random.choices((*CHOICES, "other"), k=random.randint(0, 3)))
    is_chosen = not definition.choices or set(members) <= set(definition.choices)
    return (random.choice((",", " ,", ", ")).join(members), members if is_chosen else None)


def _draw_decimal(random: Random, definition: Definition) -> Read:
    text, value = random.choice(
        (
            ("0.5", 0.5),
            (".25f", 0.25),
            ("1e-3D", 0.001),
            ("+0", 0.0),
            ("-1.", -1.0),
            ("Infinity", inf),
            ("0,5", None),
            ("e3", None),
            ("", None),
        )
    )
    return (text, None if value is None or not _is_within(definition, value) else value)


def _draw_whole(random: Random, definition: Definition) -> Read:
    """Return a number at or beside a bound, or a text that is no number."""
    bits = BITS[definition.type]
    ends = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    given = (definition.minimum, definition.maximum, definition.also)
    near = [int(one) for one in (*ends, *given, 0) if one is not None]
    value = random.choice(near) + random.choice((-1, 0, 0, 1))
    kind = random.random()
    if kind < 0.1:
        return (random.choice(("", "1.0", "0x1", "1e3", "--1", "9" * 30)), None)
    is_legal = ends[0] <= value <= ends[1] and _is_within(definition, value)
    sign = "+" if value >= 0 and kind < 0.3 else ""
    zeros = "00" if value >= 0 and kind < 0.2 else ""
    return (f"{sign}{zeros}{value}", value if is_legal else None)


def _is_within(definition: Definition, value: float) -> bool:
    least = -inf if definition.minimum is None else definition.minimum
    most = inf if definition.maximum is None else definition.maximum
    return value == definition.also or least <= value <= most
