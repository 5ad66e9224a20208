"""Writes node/core/configs/generated from the definitions in Kafka's jars.

topics.py has the configurations of topics; resources.py those of brokers that can change while a
broker runs, of groups and of client metrics; broker_keys.py every key of a server.properties.

    python -m scripts.generate_topic_configs            writes the modules
    python -m scripts.generate_topic_configs --check    exits with 1 if one is out of date

It needs Java, Kafka's jars (python -m kraftproof.images.kafka) and ruff.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from kraftproof.images.kafka import ensure_jars
from kraftproof.images.kafka.jars import VERSION

PROGRAMS: Final = Path(__file__).resolve().parent / "topic_configs"
PROGRAM: Final = PROGRAMS / "TopicConfigs.java"
RESOURCE_PROGRAM: Final = PROGRAMS / "ResourceConfigs.java"
KEYS_PROGRAM: Final = PROGRAMS / "BrokerKeys.java"
GENERATED: Final = Path(__file__).resolve().parent.parent / "node/core/configs/generated"
TARGET: Final = GENERATED / "topics.py"
RESOURCE_TARGET: Final = GENERATED / "resources.py"
KEYS_TARGET: Final = GENERATED / "broker_keys.py"
JAVA_SECONDS: Final = 120
TAB: Final = "\t"
_NOT_CHECKED: Final = frozenset(
    {
        "Validator",  # a duration among the values
        "CaseInsensitiveValidString",
        "ControllerQuorumBootstrapServersValidator",
        "ControllerQuorumVotersValidator",
        "NonEmptyString",
        "NonNullValidator",
    }
)
"""The validators of Kafka whose rules are not among the fields of a definition."""
_RANGE: Final = re.compile(r"\[(-?[\d.]+)?,?\.\.\.,?(-?[\d.]+)?\](?: or (-?\d+))?")


def printed(jars: Path, program: Path = PROGRAM) -> str:
    """Return the lines that a Java program prints."""
    command = ["java", "-Xmx256m", "-cp", f"{jars}/*", str(program)]
    return subprocess.run(
        command, capture_output=True, check=True, text=True, timeout=JAVA_SECONDS
    ).stdout


def generate(lines: str) -> str:
    """Return the text of the module, formatted."""
    text = "\n".join(
        [
            f'"""Topic configurations of Kafka {VERSION}, written by '
            'scripts/generate_topic_configs.py."""',
            "",
            "from typing import Final",
            "",
            "from kraftproof.node.core.configs.definition import ConfigType, Definition",
            "",
            "TOPIC_DEFINITIONS: Final[tuple[Definition, ...]] = (",
            *(f"    {_definition(line)}," for line in lines.splitlines()),
            ")",
            "",
        ]
    )
    return _formatted(text)


def generate_keys(lines: str) -> str:
    """Return the text of the module of all keys of a broker, formatted."""
    text = [
        f'"""Keys of server.properties of Kafka {VERSION}.',
        "",
        "Written by scripts/generate_topic_configs.py.",
        '"""',
        "",
        "from typing import Final",
        "",
        "from kraftproof.node.core.configs.definition import ConfigType, Definition",
        "",
        "BROKER_KEYS: Final[tuple[Definition, ...]] = (",
        *(f"    Definition({', '.join(_fields(line.split(TAB)))})," for line in lines.splitlines()),
        ")",
        "",
    ]
    return _formatted("\n".join(text))


def generate_resources(lines: str) -> str:
    """Return the text of the module of other resources, formatted."""
    text = [
        f'"""Configurations of brokers, groups and client metrics of Kafka {VERSION}.',
        "",
        "Written by scripts/generate_topic_configs.py.",
        '"""',
        "",
        "from typing import Final",
        "",
        "from kraftproof.node.core.configs.definition import ConfigType, Definition",
        "",
    ]
    by_resource: dict[str, list[str]] = {}
    for line in lines.splitlines():
        resource, rest = line.split("\t", 1)
        by_resource.setdefault(resource, []).append(_resource_definition(rest))
    for resource, definitions in by_resource.items():
        text.append(f"{resource}_DEFINITIONS: Final[tuple[Definition, ...]] = (")
        text += [f"    {definition}," for definition in definitions]
        text.append(")")
    return _formatted("\n".join([*text, ""]))


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"]
    return subprocess.run(command, input=text, capture_output=True, check=True, text=True).stdout


def _resource_definition(line: str) -> str:
    *common, mode = line.split("\t")
    fields = _fields(common)
    if mode == "per-broker":
        fields.append("is_per_broker=True")
    return f"Definition({', '.join(fields)})"


def _fields(printed: list[str]) -> list[str]:
    name, kind, default, validator, described, internal = printed
    fields = [f"name={name!r}", f"type=ConfigType.{kind}"]
    if default:
        fields.append(f"default={default[1:]!r}")
    fields += _bounds(name, validator, described)
    if internal:
        fields.append("is_internal=True")
    return fields


def _definition(line: str) -> str:
    *common, synonyms = line.split("\t")
    fields = _fields(common)
    named = [synonym.split("*") for synonym in synonyms.split(",") if synonym]
    if named:
        fields.append(f"synonyms={tuple(name for name, factor in named if factor == '1')!r}")
    converted = tuple((name, int(factor)) for name, factor in named if factor != "1")
    if converted:
        fields.append(f"converted={converted!r}")
    return f"Definition({', '.join(fields)})"


def _bounds(name: str, validator: str, described: str) -> list[str]:
    """Return the fields that express a validator of Kafka.

    Raises:
        ValueError: the validator is of a kind that this script does not know.
    """
    match validator:
        case "":
            return []
        case "ValidString" | "ValidList":
            members = described.strip("[]")
            return [f"choices={tuple(members.split(', '))!r}"] if members else []
        case validator if validator in _NOT_CHECKED:
            return []
        case "ThrottledReplicaListValidator":
            return ["is_replica_list=True"]
        case "Range" | "LambdaValidator":
            found = _RANGE.fullmatch(described)
            if found is not None:
                names = ("minimum", "maximum", "also")
                values = zip(names, found.groups(), strict=True)
                return [f"{field}={value}" for field, value in values if value is not None]
        case _:
            pass
    raise ValueError(f"{name}: the validator {validator} {described!r} is not known here")


def main(arguments: list[str] | None = None) -> int:
    """Write or check the generated modules."""
    parser = argparse.ArgumentParser(description="generate the configurations of resources")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args(arguments)
    jars = ensure_jars(print)
    texts = {
        TARGET: generate(printed(jars)),
        RESOURCE_TARGET: generate_resources(printed(jars, RESOURCE_PROGRAM)),
        KEYS_TARGET: generate_keys(printed(jars, KEYS_PROGRAM)),
    }
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if options.check:
            print(f"out of date: {path}; run python -m scripts.generate_topic_configs")
        else:
            path.write_text(texts[path])
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
