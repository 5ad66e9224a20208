"""kafka-metadata-shell and kraft-metadata-shell show the same tree of one snapshot."""

from pathlib import Path

import pytest

from kraftproof.node.tools.metadata_shell import main
from tests.kafka.java import Java
from tests.support.node.rich_image import FILE_NAME, snapshot_bytes

pytestmark = [pytest.mark.kafka, pytest.mark.requirement("631-100")]
SHELL = "org.apache.kafka.shell.MetadataShell"
MOST_TRIES = 5
APPLIED = "orders"
"""The topic of the image, whose records are one batch."""
NOT_COMPARED = (
    "/image/clientQuotas",  # Kafka names two entities of this image alike
    "/image/delegationToken",  # Kafka's text has opening brackets only
    "/image/provenance",  # Kafka states the offset within the file
    "/image/scram/SCRAM-SHA-256",  # ours hides the keys
    "/local",
)


def parsed(text: str) -> dict[str, str]:
    """The files of an indented tree, by path."""
    files: dict[str, str] = {}
    path: list[str] = []
    lines = [line for line in text.splitlines() if line.strip()]
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        depth = (len(line) - len(line.lstrip())) // 2
        del path[depth:]
        below = (len(after) - len(after.lstrip())) // 2 > depth
        if below or line.endswith(":"):
            path.append(line.strip().removesuffix(":"))
        else:
            files["/" + "/".join(path)] = line.strip()
    return {name: files[name] for name in files if not name.startswith(NOT_COMPARED)}


def tree_of_kafka(java: Java, snapshot: Path) -> str:
    """The tree that Kafka's shell prints once its loader has applied the snapshot.

    Kafka's shell waits until the file is read, not until the loader has applied the batches:
    on a busy machine the shell prints the tree of the empty image (seen in CI, and in one of four
    runs by hand).
    """
    for _ in range(MOST_TRIES):
        printed = java.run(SHELL, "-s", str(snapshot), "tree", "/").stdout
        if APPLIED in printed:
            return printed
    raise AssertionError(f"Kafka's shell never applied the snapshot in {MOST_TRIES} tries")


def test_the_trees_are_the_same(
    java: Java, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = tmp_path / FILE_NAME
    snapshot.write_bytes(snapshot_bytes())
    theirs = tree_of_kafka(java, snapshot)
    capsys.readouterr()
    assert main.run(["-s", str(snapshot), "tree", "/"]) == 0
    ours = parsed(capsys.readouterr().out)
    assert ours == parsed(theirs)
    assert len(ours) > 15
