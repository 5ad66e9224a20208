"""Compare lines of JAAS with their drawn options, written as Java's StreamTokenizer reads them."""

from collections.abc import Mapping
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import (
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.node.properties.jaas import JaasLine, parse_jaas
from kraftproof.node.properties.keys import ConfigError

KEY: Final = "scram-sha-256.sasl.jaas.config"
PACKAGES: Final = ("", "org.apache.kafka.common.security.scram.", "a.b$c.")
MODULES: Final = ("ScramLoginModule", "PlainLoginModule", "Own_1")
FLAGS: Final = ("required", "requisite", "sufficient", "optional", "REQUIRED", "Required")
NAMES: Final = ("username", "password", "user_alice", "user_b-c", "tokenauth", "serviceName")
CHARACTERS: Final = "ab1 =;,:\"'\\\n\té/+{}#"
BARE: Final = ("alice", "true", "a-b_c", "x=y", "a\\b", "é", "1234", "a,b")
BLANKS: Final = (" ", "  ", "\t", "\n", " \n   ")
ESCAPES: Final[Mapping[str, str]] = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
    "'": "\\'",
}
NO_LINES: Final = (
    *("", ";", "hunter2", "Module required password=hunter2", "Module needed password=hunter2;"),
    *("Module required hunter2;", "Module required password=;", "Module required =hunter2;"),
    *('Module required password="hunter2;', "Module required password='hunter2;"),
    *('Module required password="hunter2\\";', "Module required a=b c=hunter2; x;"),
    *("Module password=hunter2;", "required password=hunter2;", 'Module required a"b=hunter2;'),
)
"""Texts that are no line of JAAS, most with a secret."""


def compare_jaas(random: Random) -> None:
    """Read lines of JAAS, and texts that are none.

    Raises:
        DifferenceError: an option has another value, or a refusal shows a secret.
    """
    for _ in range(3):
        module = random.choice(MODULES)
        options = {name: _draw(random) for name in random.sample(NAMES, random.randint(0, 4))}
        text = written_line(random, module, options)
        line = attempt(ConfigError, parse_jaas, KEY, text)
        same(f"the line {text!r}", line, JaasLine(module=module, options=options))
    text = random.choice(NO_LINES)
    error = refused(f"the line {text!r}", ConfigError, parse_jaas, KEY, text)
    named("a wrong line of JAAS", error, f"{KEY}: ")
    check("a refusal shows no secret", "hunter2" not in error)


def _draw(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(BARE)
    return "".join(random.choices((*CHARACTERS, *ESCAPES), k=random.randint(0, 6)))


def written_line(random: Random, module: str, options: Mapping[str, str]) -> str:
    """Return a line with blanks and quotes of every kind."""
    around = random.choice(("", " ", "\t")), random.choice(("", " ", "\n"))
    parts = [f"{random.choice(PACKAGES)}{module}", random.choice(FLAGS)]
    parts += [_option(random, name, value) for name, value in options.items()]
    text = parts[0]
    for part in parts[1:]:
        # Behind a quote the next option needs no blank.
        text += (
            "" if text[-1] in "\"'" and random.random() < 0.3 else random.choice(BLANKS)
        ) + part
    return f"{around[0]}{text}{random.choice(('', ' '))};{around[1]}"


def _option(random: Random, name: str, value: str) -> str:
    equals = random.choice(("=", "=", " = ", "= "))
    if value in BARE and random.random() < 0.7:
        return f"{name}{equals}{value}"
    quote = random.choice('""\'')
    return f"{name}{equals}{quote}{''.join(_character(random, one, quote) for one in value)}{quote}"


def _character(random: Random, one: str, quote: str) -> str:
    """Return a character inside quotes; a backslash and the quote itself need an escape."""
    if random.random() < 0.1 and ord(one) < 256:
        return f"\\{ord(one):03o}"
    if one in {"\\", quote} or (one in ESCAPES and random.random() < 0.5):
        return ESCAPES[one]
    return f"\\{one}" if random.random() < 0.1 and one in "=;,: {}#é" else one
