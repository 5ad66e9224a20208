"""kraft-storage version-mapping and feature-dependencies."""

import pytest

from kraftproof.node.tools.storage import run


@pytest.mark.parametrize(
    ("release", "first", "ones"),
    [
        ([], "metadata.version=30 (4.3-IV0)", 6),
        (["-r", "3.9"], "metadata.version=21 (3.9)", 1),
        (["-r", "3.7-IV2"], "metadata.version=17 (3.7-IV2)", 0),
        (["--release-version", "4.0"], "metadata.version=25 (4.0)", 3),
    ],
)
def test_a_release_has_its_features(
    release: list[str], first: str, ones: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["version-mapping", *release]) == 0
    head, *features = capsys.readouterr().out.splitlines()
    assert (head, len(features)) == (first, 6)
    assert sum(not line.endswith("=0") for line in features) == ones


def test_dependencies_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    named = ("-f", "metadata.version=21", "-f", "eligible.leader.replicas.version=1")
    assert run(["feature-dependencies", *named]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "metadata.version=21 (3.9-IV0) has no dependencies.",
        "eligible.leader.replicas.version=1 requires:",
        "    metadata.version=23 (4.0-IV1)",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["version-mapping", "-r", "9.9"], "Unknown metadata.version '9.9'. Supported"),
        (["feature-dependencies", "-f", "x=1"], "Unknown feature: x"),
        (
            ["feature-dependencies", "-f", "group.version=2"],
            "Feature level 2 is not supported for feature group.version",
        ),
        (["feature-dependencies", "-f", "metadata.version=99"], "Unknown metadata.version 99"),
        (
            ["feature-dependencies", "-f", "group.version"],
            "Invalid feature format: group.version. Expected",
        ),
        (["feature-dependencies"], "the following arguments are required: -f/--feature"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = run(arguments)
    except SystemExit as end:
        status = int(str(end.code))
    error = capsys.readouterr().err
    assert status == 1
    assert words in error
    assert error.count("\n") == 1
