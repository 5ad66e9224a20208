"""Variables of a Compose file in all forms of the Compose specification."""

from pathlib import Path

import pytest

from kraftproof.cluster.systems.compose.errors import ComposeFileError, Place
from kraftproof.cluster.systems.compose.variables import substituted, variables

KNOWN = {"SET": "v", "EMPTY": ""}
PLACE = Place(Path("docker-compose.yml"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("$SET-${SET}", "v-v"),
        ("$$SET $${SET}", "$SET ${SET}"),
        ("<${NONE}>", "<>"),
        ("${NONE:-d} ${EMPTY:-d} ${SET:-d}", "d d v"),
        ("${NONE-d}|${EMPTY-d}|${SET-d}", "d||v"),
        ("${NONE:+o}|${EMPTY:+o}|${SET:+o}", "||o"),
        ("${NONE+o}|${EMPTY+o}|${SET+o}", "|o|o"),
        ("${NONE:-${SET}}", "v"),
        ("${EMPTY?needed}${SET:?needed}", "v"),
    ],
)
def test_variables_and_their_defaults(text: str, value: str) -> None:
    assert substituted(text, KNOWN, PLACE) == value


@pytest.mark.parametrize("text", ["${EMPTY:?is needed}", "${NONE?is needed}"])
def test_a_required_variable(text: str) -> None:
    with pytest.raises(ComposeFileError, match="is not set: is needed"):
        substituted(text, KNOWN, PLACE)


@pytest.mark.parametrize("text", ["5$", "${", "${1}", "${SET"])
def test_a_dollar_sign_without_a_variable(text: str) -> None:
    with pytest.raises(ComposeFileError, match="begins no variable"):
        substituted(text, KNOWN, PLACE)


def test_the_environment_precedes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("IN_BOTH=file\nIN_FILE=file\n")
    monkeypatch.setenv("IN_BOTH", "shell")
    found = variables(tmp_path)
    assert (found["IN_BOTH"], found["IN_FILE"]) == ("shell", "file")
