"""The commands of the metadata shell on the tree of an image (631-100)."""

import pytest

from kraftproof.node.tools.metadata_shell.commands import COMMANDS, Shell
from kraftproof.node.tools.metadata_shell.tree import tree_of
from tests.support.node.rich_image import rich_image

pytestmark = pytest.mark.requirement("631-100")


@pytest.fixture
def shell() -> Shell:
    return Shell(tree_of(rich_image(), offset=119, epoch=3, timestamp_ms=1234))


def said(shell: Shell, line: str) -> list[str]:
    return shell.execute(line)[0]


def test_every_kind_of_entity_has_its_place(shell: Shell) -> None:
    assert said(shell, "find /image")[:3] == ["/image", "/image/acls", "/image/acls/byId"]
    for path, text in (
        ("/image/provenance", "offset 119, epoch 3, time 1970-01-01T00:00:01.234Z[UTC]"),
        ("/image/features/metadataVersion", "Optional[3.9-IV0]"),
        ("/image/producerIds/nextProducerId", "1000"),
        ("/image/configs/BROKER/num.io.threads", "9"),
        ("/image/configs/TOPIC:orders/retention.ms", "7"),
        ("/image/clientQuotas/user(ann)/producer_byte_rate", "1024.0"),
        ("/image/clientQuotas/clientId(<default>),user(ann)/consumer_byte_rate", "2048.0"),
        ("/image/topics/byName/orders/id", "CwAAAAAAAAAAAAAAAAAABw"),
        ("/image/topics/byId/CwAAAAAAAAAAAAAAAAAABw/name", "orders"),
    ):
        assert said(shell, f"cat '{path}'") == [text]
    (partition,) = said(shell, "cat /image/topics/byName/orders/1")
    assert "removingReplicas=[5], addingReplicas=[4]" in partition
    assert "leader=-1, leaderRecoveryState=RECOVERED" in partition
    assert "rack=Optional[east], fenced=false" in said(shell, "cat /image/cluster/brokers/4")[0]
    assert "host='c1', port=9093" in said(shell, "cat /image/cluster/controllers/1")[0]
    assert "principal=User:ann" in said(shell, "cat /image/acls/byId/*")[0]
    assert "owner=User:ann" in said(shell, "cat /image/delegationToken/token-1")[0]


def test_keys_of_credentials_are_hidden(shell: Shell) -> None:
    (text,) = said(shell, "cat /image/scram/SCRAM-SHA-256/ann")
    assert "iterations=4096" in text
    assert b"k1".hex() not in text
    assert b"k2".hex() not in text


def test_it_walks_like_a_shell(shell: Shell) -> None:
    assert said(shell, "ls") == ["image", "local"]
    assert said(shell, "pwd") == ["/"]
    assert said(shell, "cd image/cluster") == []
    assert said(shell, "pwd") == ["/image/cluster"]
    assert said(shell, "ls brokers controllers") == [
        "brokers:", "4", "5", "", "controllers:", "1",
    ]  # fmt: skip
    assert said(shell, "ls brokers/4") == ["4"]
    assert said(shell, "cd ../features/.") == []
    assert said(shell, "tree") == ["metadataVersion:", "  Optional[3.9-IV0]"]
    assert said(shell, "find") == [".", "./metadataVersion"]
    assert said(shell, "cd") == []
    assert said(shell, "find image/scram") == [
        "image/scram",
        "image/scram/SCRAM-SHA-256",
        "image/scram/SCRAM-SHA-256/ann",
        "image/scram/SCRAM-SHA-512",
    ]
    assert said(shell, "cat /image/configs/*/num.io.threads") == ["9"]
    assert said(shell, "ls /image/topics/byName/orders") == ["0", "1", "id", "name"]
    assert said(shell, "") == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cat nosuch", "cat: nosuch: No such file or directory."),
        ("cat image", "cat: image: Is a directory"),
        ("ls nosuch", "ls: nosuch: no such file or directory."),
        ("find nosuch", "find: nosuch: no such file or directory."),
        ("tree nosuch", "tree: nosuch: no such file or directory."),
        ("cd nosuch", "cd: nosuch: no such directory."),
        ("cd image/provenance", "cd: image/provenance: not a directory."),
        ("cd image/*", "cd: image/*: too many directories."),
        ("man nosuch", "man: unknown command nosuch. Type help to get a list of commands."),
        ("man", "too few arguments"),
        ("cat", "too few arguments"),
        ("pwd x", "unrecognized arguments: 'x'"),
        ("history x", "argument numEntriesToShow: 'x' is no whole number"),
    ],
)
def test_a_mistake_is_one_line_and_the_shell_goes_on(shell: Shell, line: str, words: str) -> None:
    assert shell.execute(line) == ([words], False)
    assert shell.execute("pwd") == (["/"], True)


def test_an_unknown_command_names_the_known_ones(shell: Shell) -> None:
    (line,), is_done = shell.execute("frob")
    assert line.startswith("invalid choice: 'frob' (choose from 'cat', 'cd', 'exit'")
    assert not is_done
    assert "No closing quotation" in said(shell, "cat 'x")[0]


def test_one_missing_path_does_not_stop_the_others(shell: Shell) -> None:
    lines, is_done = shell.execute("cat nosuch image/producerIds/nextProducerId")
    assert lines == ["cat: nosuch: No such file or directory.", "1000"]
    assert not is_done


def test_history_help_and_man(shell: Shell) -> None:
    said(shell, "pwd")
    said(shell, "ls")
    assert said(shell, "history") == ["    0  pwd", "    1  ls", "    2  history"]
    assert said(shell, "history 1") == ["    3  history 1"]
    text = "\n".join(said(shell, "help"))
    assert all(name in text for name in COMMANDS)
    assert said(shell, "man cat")[0] == "cat: Show the contents of metadata files."
    assert not shell.is_over
    said(shell, "exit")
    assert shell.is_over
