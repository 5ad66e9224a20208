"""A crash of our own after the workload: named, kept in a file, exit 70, and still a report."""

import pytest

from kraftproof import cli

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize(
    "place", ["kraftproof.run.attempt.collect", "kraftproof.run.judging.check_run"]
)
def test_a_crash_of_our_own_leaves_a_report(monkeypatch, tmp_path, capsys, place):
    def crash(*_, **__):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(place, crash)
    status = cli.run(
        [
            *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "1+1"),
            *("--time-limit", "5", "--store", str(tmp_path)),
        ]
    )
    out, err = capsys.readouterr()
    assert status == 70, out + err
    (line,) = [line for line in out.splitlines() if "ZeroDivisionError: ours" in line]
    assert line.strip().endswith("(traceback: crash.txt)")
    (directory,) = tmp_path.iterdir()
    assert "ZeroDivisionError: ours" in (directory / "crash.txt").read_text()
    assert ">unknown</h1>" in (directory / "report.html").read_text()


@pytest.mark.parametrize(
    "place", ["kraftproof.report.page.write_page", "kraftproof.running.diagram_of"]
)
def test_a_crash_of_our_own_in_the_report_leaves_the_verdict(monkeypatch, tmp_path, capsys, place):
    def crash(*_, **__):
        raise FileNotFoundError(2, "ours")

    monkeypatch.setattr(place, crash)
    status = cli.run(
        [
            *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "1+1"),
            *("--nemesis", "none", "--time-limit", "5", "--store", str(tmp_path)),
        ]
    )
    out, err = capsys.readouterr()
    assert status == 70, out + err
    assert "Traceback" not in out + err
    (line,) = [line for line in err.splitlines() if "FileNotFoundError" in line]
    assert line.startswith("kraftproof: the report can't be written: ")
    assert line.endswith("(traceback: crash.txt)")
    assert out.splitlines()[-1].startswith("valid ")
    (directory,) = tmp_path.iterdir()
    assert "FileNotFoundError: " in (directory / "crash.txt").read_text()
    monkeypatch.undo()
    judged = cli.run(["check", "--engine", "inline", str(directory)])
    assert judged == 0, capsys.readouterr()
