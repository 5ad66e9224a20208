"""Writes node/core/configs/generated/topics.py from the definitions in Kafka's jars.

    python -m scripts.generate_topic_configs            writes the module
    python -m scripts.generate_topic_configs --check    exits with 1 if it is out of date

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

PROGRAM: Final = Path(__file__).resolve().parent / "topic_configs" / "TopicConfigs.java"
TARGET: Final = Path(__file__).resolve().parent.parent / "node/core/configs/generated/topics.py"
JAVA_SECONDS: Final = 120
_RANGE: Final = re.compile(r"\[(-?[\d.]+)?,?\.\.\.,?(-?[\d.]+)?\](?: or (-?\d+))?")


def printed(jars: Path) -> str:
    """Return the lines that the Java program prints."""
    command = ["java", "-Xmx256m", "-cp", f"{jars}/*", str(PROGRAM)]
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
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"]
    return subprocess.run(command, input=text, capture_output=True, check=True, text=True).stdout


def _definition(line: str) -> str:
    name, kind, default, validator, described, internal, synonyms = line.split("\t")
    fields = [f"name={name!r}", f"type=ConfigType.{kind}"]
    if default:
        fields.append(f"default={default[1:]!r}")
    fields += _bounds(name, validator, described)
    if internal:
        fields.append("is_internal=True")
    if synonyms:
        fields.append(f"synonyms={tuple(synonyms.split(','))!r}")
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
            return [f"choices={tuple(described.strip('[]').split(', '))!r}"]
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
    """Write or check the generated module."""
    parser = argparse.ArgumentParser(description=f"generate {TARGET.name}")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args(arguments)
    text = generate(printed(ensure_jars(print)))
    if options.check:
        is_stale = not TARGET.exists() or TARGET.read_text() != text
        if is_stale:
            print(f"out of date: {TARGET}; run python -m scripts.generate_topic_configs")
        return int(is_stale)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
