"""The committed tables of configurations are what Kafka's jars define."""

from pathlib import Path

import pytest

from scripts import generate_topic_configs

pytestmark = [pytest.mark.kafka, pytest.mark.requirement("631-90")]


def test_the_committed_tables_are_up_to_date(jars: Path) -> None:
    lines = generate_topic_configs.printed(jars)
    assert generate_topic_configs.TARGET.read_text() == generate_topic_configs.generate(lines)
    lines = generate_topic_configs.printed(jars, generate_topic_configs.RESOURCE_PROGRAM)
    text = generate_topic_configs.generate_resources(lines)
    assert generate_topic_configs.RESOURCE_TARGET.read_text() == text
    lines = generate_topic_configs.printed(jars, generate_topic_configs.KEYS_PROGRAM)
    text = generate_topic_configs.generate_keys(lines)
    assert generate_topic_configs.KEYS_TARGET.read_text() == text


def test_an_unknown_validator_is_refused() -> None:
    with pytest.raises(ValueError, match="k: the validator Odd 'x' is not known here"):
        generate_topic_configs.generate("k\tINT\t=1\tOdd\tx\t\t\n")
