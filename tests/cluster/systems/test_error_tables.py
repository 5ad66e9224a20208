"""Tables of errors: a table that would say something else than it seems to say is refused."""

import pytest

from kraftproof import cli
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.outcome import Outcome

MISTAKES = {
    "any-operation": ({"refusals": {"*": {"busy"}}}, "'*' stands for no operation: name each"),
    "any-read": ({"reads": {"*"}}, "reads: '*' stands for nothing: name each one"),
    "any-error": ({"refusals": {"cas": {"*"}}}, r"refusals\['cas'\]: '\*' stands for nothing"),
    "a-text": ({"refusals": {"cas": "busy"}}, r"refusals\['cas'\] 'busy': a set is expected"),
    "a-read": ({"reads": "read"}, "reads 'read': a set is expected, such as {'unequal'}"),
    "a-set": ({"refusals": {"cas"}}, "refusals {'cas'}: a dict by operation is expected"),
    "a-number": ({"refusals": {"cas": 409}}, r"refusals\['cas'\] 409: a set is expected"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_table_that_means_something_else_is_refused(mistake: str) -> None:
    fields, said = MISTAKES[mistake]
    with pytest.raises(ValueError, match=said.replace("'*'", r"'\*'")):
        ErrorTable(**fields)  # type: ignore[arg-type]


def test_numbers_and_texts_are_errors() -> None:
    table = ErrorTable(reads=["read"], refusals={"cas": (409, "unequal")})
    assert (table.of("cas", 409), table.of("cas", 500)) == (Outcome.FAIL, Outcome.INFO)


def test_the_command_refuses_such_a_system_in_one_line(tmp_path, capsys) -> None:
    (tmp_path / "mine.py").write_text(
        "from kraftproof.cluster.systems.system import ErrorTable, System\n"
        "class Mine(System):\n"
        "    errors = ErrorTable(refusals={'*': {'busy'}})\n"
    )
    status = cli.run(["test", "--system", f"{tmp_path}/mine.py:Mine", "--dry-run"])
    said = capsys.readouterr().err
    assert status == 3
    assert said.count("\n") == 1
    assert "mine.py:Mine: line 3: ValueError: '*' stands for no operation: name each" in said
