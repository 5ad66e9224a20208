"""The committed messages are what the generator writes, and it says so when they are not."""

import pytest

from scripts import generate_wire


@pytest.fixture(scope="module")
def texts():
    return generate_wire.generate()


def test_committed_messages_are_up_to_date(texts):
    assert generate_wire.stale(texts, generate_wire.TARGET) == []


def test_a_stale_missing_or_surplus_file_is_named(texts, tmp_path, monkeypatch, capsys):
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(generate_wire, "generate", lambda: texts)
    monkeypatch.setattr(generate_wire, "TARGET", tmp_path)
    assert generate_wire.main(["--check"]) == 0
    (tmp_path / "messages/generated/vote_request.py").write_text("")
    (tmp_path / "messages/generated/fetch_request.py").unlink()
    (tmp_path / "messages/generated/surplus.py").write_text("")
    assert generate_wire.main(["--check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    named = (
        f"messages/generated/{name}.py" for name in ("fetch_request", "surplus", "vote_request")
    )
    assert ", ".join(named) in lines[0]
    assert generate_wire.main([]) == 0
    assert generate_wire.stale(texts, tmp_path) == []


@pytest.mark.long
def test_the_check_agrees_from_run_to_run(texts):
    assert generate_wire.generate() == texts
