"""A file of Kafka means the same here: keys, values and escapes are those of Java's properties."""

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.properties.keys import ConfigError, read_keys
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.java_properties import parse_properties
from kraftproof.node.storage.meta_properties import (
    FILE_NAME,
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from tests.node.properties.samples import COMBINED, text_of


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b\n c : d\ne f\n", {"a": "b", "c": "d", "e": "f"}),
        ("a=b=c:d e  \n", {"a": "b=c:d e"}),
        ("# a=b\\\nc=d\n! e=f\n\n \t\n", {"c": "d"}),
        ("a=b,\\\n   c,\\\r\n\td\ne=f", {"a": "b,c,d", "e": "f"}),
        ("a=b\\\\\nc=d\n", {"a": "b\\", "c": "d"}),
        ("a=b\\\\\\\n  c\n", {"a": "b\\c"}),
        ("a=b\\\n\nc=d\n", {"a": "b", "c": "d"}),
        ("a=b\\\n", {"a": "b"}),
        (r"a=x\ty\nz\\w\q\"", {"a": "x\ty\nz\\w" + 'q"'}),
        (r"a\=\:\ b=\u00e9\u0041", {"a=: b": "\u00e9A"}),
        ("a=b\u2028c\x0bd\n", {"a": "b\u2028c\x0bd"}),
        ("a\nb=\n", {"a": "", "b": ""}),
        ("a=b\na=c\n", {"a": "c"}),
        ("\\\n\n", {}),
    ],
)
def test_the_text_is_read_as_java_reads_it(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


def test_a_rule_of_kafka_with_a_backslash_is_the_rule_that_kafka_has() -> None:
    pairs = read_keys(r"ssl.principal.mapping.rules=RULE:^CN=(\\w+)\\..*$/$1/,DEFAULT")
    assert pairs["ssl.principal.mapping.rules"] == r"RULE:^CN=(\w+)\..*$/$1/,DEFAULT"


def test_a_refused_value_with_a_line_end_is_named_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^node\.id=1\\n2\\r: is not valid") as caught:
        parse_server_properties(text_of({**COMBINED, "node.id": r"1\n2\\r"}))
    assert "\n" not in str(caught.value)


def test_an_unknown_property_of_a_directory_survives_with_each_character() -> None:
    disk = SimulatedFileSystem()
    others = {"path": "c:\\new\nline\r=", "more": "a b"}
    meta = MetaProperties(cluster_id="A" * 22, node_id=NodeId(3), others=others)
    write_meta_properties(disk, "/a", meta)
    assert read_meta_properties(disk, "/a") == meta
    assert b"path=c:\\\\new\\nline\\r=\n" in disk.read(join("/a", FILE_NAME))
