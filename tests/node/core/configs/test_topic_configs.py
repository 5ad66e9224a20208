"""Values of topic configurations are read and bounded as Kafka does it."""

import pytest

from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS
from kraftproof.node.core.configs.values import InvalidConfigError, check_topic_configs, read_value

pytestmark = pytest.mark.requirement("631-90")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", "-1", -1),
        ("retention.ms", " +007 ", 7),
        ("retention.ms", "9223372036854775807", 2**63 - 1),
        ("unclean.leader.election.enable", "TRUE", True),
        ("cleanup.policy", " compact , delete ", ("compact", "delete")),
        ("cleanup.policy", "", ()),
        ("compression.gzip.level", "-1", -1),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("follower.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
        ("retention.bytes", "-9", -9),
    ],
)
def test_a_value_is_read_as_its_type(name: str, text: str, value: object) -> None:
    assert read_value(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("retention.ms", "-2", "a value of type LONG from -1"),
        ("retention.ms", "9223372036854775808", "type LONG"),
        ("retention.ms", "", "type LONG"),
        ("retention.ms", "1_000", "type LONG"),
        ("segment.bytes", "2147483648", "type INT from 1048576"),
        ("compression.gzip.level", "0", "from 1 to 9, or -1,"),
        ("compression.type", "rar", "one of uncompressed, zstd"),
        ("cleanup.policy", "compact,,delete", "a list of compact, delete"),
        ("unclean.leader.election.enable", "yes", "type BOOLEAN"),
        ("min.cleanable.dirty.ratio", "1.5", "from 0 to 1"),
        ("follower.replication.throttled.replicas", "*,1:2", "partition:broker"),
        ("retention.ms", "7" * 5000, "type LONG"),
        ("compression.type", "a" * 32_768, "32768 characters"),
        ("no.such.key", "1", "no topic configuration"),
    ],
)
def test_another_value_is_refused_in_one_line(name: str, text: str, expected: str) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        read_value(name, text)
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("definition", TOPIC_DEFINITIONS, ids=lambda entry: entry.name)
def test_the_default_of_every_configuration_may_be_set(definition) -> None:
    if definition.default is not None:
        check_topic_configs({definition.name: definition.default})


@pytest.mark.parametrize(
    "configs",
    [
        {"min.compaction.lag.ms": "2", "max.compaction.lag.ms": "1"},
        {"remote.storage.enable": "true"},
    ],
)
def test_values_that_exclude_each_other_are_refused(configs: dict[str, str]) -> None:
    with pytest.raises(InvalidConfigError):
        check_topic_configs(configs)
