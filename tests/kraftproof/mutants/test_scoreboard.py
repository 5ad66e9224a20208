"""`kraftproof mutants`: what counts as a find, what the table says, and the exit codes."""

import json
from pathlib import Path

import pytest

from kraftproof import cli, mutants
from kraftproof.commands import mutants as command
from kraftproof.errors import UsageError
from kraftproof.mutants.scoreboard import Score, Scoreboard, as_markdown
from kraftproof.mutants.search import (
    CLEAN,
    Search,
    Searcher,
    SeedRange,
    parse_range,
)
from kraftproof.mutants.sim_processes import SearchFailedError, SearchStoppedError

ROOT = Path(__file__).resolve().parents[3]
BUDGET_S = 100.0
FROM_0 = SeedRange(0, None)


class FromScript(Searcher):
    """Searches that go as a test says: by mutant, the seeds that violate and what each costs."""

    def __init__(self, violating, cost_s=1.0, crashing=(), clean=()):
        super().__init__(BUDGET_S, clean=clean)
        self.crashing = crashing
        self.violating = violating
        self.cost_s = cost_s
        self.asked = []
        self.workloads = set()

    def _sim(self, mutant_id, seeds, workload, budget_s):
        self.workloads.add(workload)
        self.asked.append((mutant_id, seeds, budget_s))
        hits = [s for s in self.violating.get(mutant_id, ()) if s in members(seeds)]
        crashes = [seed for seed in self.crashing if seed in members(seeds)]
        return {
            "seeds": 3,
            "violations": [
                *(
                    {"seed": seed, "invariant": "LogMatching", "kind": "property"}
                    for seed in hits[:1]
                ),
                *(
                    {"seed": seed, "invariant": "NoUnhandledException", "kind": "crash"}
                    for seed in crashes
                ),
            ],
            "cpu_seconds": self.cost_s,
            "unknown": 0,
        }


def members(seeds):
    return range(seeds.first, seeds.first + 50 if seeds.end is None else seeds.end)


def test_a_find_names_its_seed_and_what_noticed():
    found = FromScript({"A1": [7]}).find("A1", FROM_0)
    assert (found.seed, found.by, found.cpu_s, found.false_alarms) == (7, "LogMatching", 1.0, ())


def test_a_workload_goes_to_the_search_and_to_the_clean_node():
    searcher = FromScript({"A1": [7]})
    assert searcher.find("A1", FROM_0, "log").is_found
    assert (searcher.workloads, len(searcher.asked)) == ({"log"}, 2)


def test_what_the_clean_node_does_not_pass_is_a_false_alarm_and_the_search_goes_on():
    searcher = FromScript({"A1": [3, 9], CLEAN: [3]})
    found = searcher.find("A1", FROM_0)
    assert (found.seed, found.false_alarms, found.cpu_s) == (9, (3,), 2.0)
    assert searcher.asked == [
        ("A1", SeedRange(0, None), 100.0),
        (CLEAN, SeedRange(3, 4), None),
        ("A1", SeedRange(4, None), 99.0),
        (CLEAN, SeedRange(9, 10), None),
    ]


def test_the_clean_node_is_asked_once_a_seed_that_is_not_known_to_be_clean():
    searcher = FromScript({"A1": [3], "A2": [3]})
    assert searcher.find("A1", FROM_0).is_found
    assert searcher.find("A2", FROM_0).is_found
    assert [one[0] for one in searcher.asked] == ["A1", CLEAN, "A2"]
    known = FromScript({"A1": [3]}, clean=[(3, None)])
    assert (known.find("A1", FROM_0).is_found, len(known.asked)) == (True, 1)


def test_a_violation_of_the_clean_node_is_never_a_find():
    found = FromScript({CLEAN: [2, 4]}).find(CLEAN, SeedRange(0, 6))
    assert (found.is_found, found.false_alarms) == (False, (2, 4))


def test_what_took_more_than_the_budget_is_missed_at_the_budgets_cost():
    found = FromScript({"A1": [3]}, cost_s=BUDGET_S + 1).find("A1", FROM_0)
    assert (found.is_found, found.cpu_s) == (False, BUDGET_S)
    assert score("A1", found).cpu_s == BUDGET_S


def test_a_search_without_a_word_fails_with_its_last_line():
    searcher = Searcher(BUDGET_S)
    with pytest.raises(SearchFailedError, match=r"A99, seeds 0:1: exit status 3: .*unknown"):
        searcher.find("A99", SeedRange(0, 1))


def test_no_search_begins_after_stop():
    searcher = Searcher(BUDGET_S)
    searcher.stop()
    with pytest.raises(SearchStoppedError):
        searcher.find("A1", FROM_0)


def test_a_crash_is_no_find_and_is_counted_apart():
    found = FromScript({}, crashing=(3, 5)).find("A1", FROM_0)
    assert (found.is_found, found.by, found.crashes) == (False, None, (3, 5))
    assert score("A1", found).result == "missed; seeds that crashed: 2"
    assert not Scoreboard(scores=(score("A1", found),), clean=()).is_good
    found = FromScript({"A1": [7]}, crashing=(3, 5)).find("A1", FROM_0)
    assert (found.seed, found.by, found.crashes) == (7, "LogMatching", (3, 5))
    assert score("A1", found).result == "found; seeds that crashed: 2"


def test_a_crash_of_the_clean_node_is_a_false_alarm():
    found = FromScript({}, crashing=(4,)).find(CLEAN, SeedRange(0, 6))
    assert (found.is_found, found.false_alarms) == (False, (4,))


def test_repeats_are_disjoint():
    assert SeedRange(5, None).repeated(2) == (SeedRange(5, None), SeedRange(1005, None))
    assert SeedRange(0, 3000).repeated(2) == (SeedRange(0, 3000), SeedRange(3000, 6000))


@pytest.mark.parametrize("text", ["", "7", "a:", "3:3", "5:2", ":4", "1:2:3"])
def test_what_is_no_range_of_seeds_is_refused_in_one_line(text):
    with pytest.raises(UsageError, match="--seeds") as refused:
        parse_range(text)
    assert "\n" not in str(refused.value)


# The scores


def found(cpu_s, seed=7, by="LogMatching"):
    return Search(seeds=FROM_0, cpu_s=cpu_s, searched=1, seed=seed, by=by)


MISSED = Search(seeds=FROM_0, cpu_s=BUDGET_S, searched=80)


def score(mutant_id, *searches):
    return Score(mutant=mutants.load(mutant_id), searches=searches, budget_s=BUDGET_S)


def test_a_score_is_that_of_the_median_search():
    one = score("A18", found(9.0, 1), found(2.0, 2, "ElectionSafety"), found(1.0, 3))
    assert one.as_json() == {
        "mutant": "A18",
        "found": True,
        "by": "ElectionSafety",
        "seed": 2,
        "cpu_seconds": 2.0,
        "crashes": 0,
    }


def test_a_mutant_that_one_search_misses_is_missed():
    one = score("A18", found(1.0), MISSED, found(2.0))
    assert not one.is_found
    assert one.result == "missed (2 of 3 found it)"
    assert one.cpu_s == 2.0
    assert score("A18", MISSED).as_json() == {
        "mutant": "A18",
        "found": False,
        "by": None,
        "seed": None,
        "cpu_seconds": BUDGET_S,
        "crashes": 0,
    }


def test_a_board_is_good_if_all_are_found_and_there_is_no_false_alarm():
    alarm = Search(seeds=FROM_0, cpu_s=1.0, searched=9, false_alarms=(4,))
    good, bad = score("A18", found(1.0)), score("A4", MISSED)
    assert Scoreboard(scores=(good,), clean=()).is_good
    assert not Scoreboard(scores=(good, bad), clean=()).is_good
    assert not Scoreboard(scores=(good,), clean=(alarm,)).is_good
    assert "false alarms at seeds 4" in Scoreboard(scores=(good,), clean=(alarm,)).summary()


def test_the_page_has_a_row_for_each_and_sets_section_h_beside_kafka():
    board = Scoreboard(scores=(score("A18", found(1.0)), score("D12", MISSED)), clean=(MISSED,))
    page = as_markdown(board, command="kraftproof mutants", date="2026-11-21")
    assert "Generated by `kraftproof mutants` on 2026-11-21" in page
    assert "- 1 of 2 found, median 50.5 CPU-s, slowest D12 100.0 CPU-s" in page
    assert "- the node as it is: 80 seeds, 0 false alarms" in page
    assert "| A18 | killed | found | LogMatching | 1.0 |" in page
    assert page.count("| A18 |") == 2
    assert page.count("| D12 |") == 1


def test_the_page_in_docs_has_a_row_for_every_mutant():
    """`kraftproof mutants --scoreboard docs/scoreboard.md` writes it."""
    page = (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines()]
    assert [one for one in mutants.IDS if one not in rows] == []


def test_section_h_is_fifteen_of_which_kafka_kills_eight():
    """docs/scoreboard.md sets them beside Kafka's own simulation."""
    fifteen = {one.mutant_id: one.kafka for one in mutants.ALL if one.kafka is not None}
    assert len(fifteen) == 15
    killed = sorted(mutant_id for mutant_id, kafka in fifteen.items() if kafka == "killed")
    assert killed == ["A1", "A15", "A17", "A18", "A19a", "A19b", "A27", "A4"]


# The command


def run(monkeypatch, violating, *arguments):
    monkeypatch.setattr(command, "Searcher", lambda _: FromScript(violating))
    monkeypatch.setattr(mutants, "type_errors", lambda _: {})
    return cli.run(["mutants", *arguments])


def test_all_found_is_0_and_one_missed_or_a_false_alarm_is_1(monkeypatch, capsys):
    assert run(monkeypatch, {"A18": range(9999)}, "A18", "clean") == 0
    assert "1 of 1 found" in capsys.readouterr().out
    assert run(monkeypatch, {"A18": range(9999)}, "A18", "A4") == 1
    assert run(monkeypatch, {"A18": range(9999), CLEAN: [30]}, "A18", "clean") == 1
    assert "false alarms at seeds 30" in capsys.readouterr().out


def test_json_is_a_line_a_mutant_in_the_order_asked_for(monkeypatch, capsys):
    assert run(monkeypatch, {"A4": range(9999)}, "A4", "A18", "--json", "--seeds", "5:") == 1
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert list(first) == ["mutant", "found", "by", "seed", "cpu_seconds", "crashes"]
    assert (first["mutant"], first["found"], first["by"]) == ("A4", True, "LogMatching")
    assert first["seed"] in {5, 1005, 2005, 3005, 4005}
    assert (second["mutant"], second["found"], second["seed"]) == ("A18", False, None)


def test_searches_begin_at_the_seeds_of_earlier_finds(monkeypatch, capsys, tmp_path):
    finds = tmp_path / "finds.json"
    finds.write_text('{"A4": {"seed": 70, "by": "LogMatching"}}')
    violating = {"A4": range(70, 9999), "A18": range(9999)}
    options = ("--json", "--seeds-from", str(finds), "--repeat", "1")
    assert run(monkeypatch, violating, "A4", "A18", *options) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["seed"] for one in found] == [70, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ('{"A4": 7}', "an object such as"),
        ('{"A4": {"seed": -1}}', "A4: seed -1 is below 0"),
        ("\xff", "an object such as"),
    ],
)
def test_what_is_no_file_of_finds_is_one_line(capsys, tmp_path, text, said):
    finds = tmp_path / "finds.json"
    if text is not None:
        finds.write_bytes(text.encode("latin-1"))
    assert cli.run(["mutants", "A4", "--seeds-from", str(finds)]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"kraftproof: --seeds-from {finds}: ")
    assert said in line


def test_without_ids_the_whole_catalogue_is_judged(monkeypatch, capsys, tmp_path):
    page = tmp_path / "scoreboard.md"
    violating = dict.fromkeys(mutants.IDS, range(9999))
    assert run(monkeypatch, violating, "--scoreboard", str(page), "--repeat", "1") == 0
    text = page.read_text()
    assert all(f"| {mutant_id} |" in text for mutant_id in mutants.IDS)
    assert "--repeat 1" in text
    assert "the node as it is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named_"),
    [
        (["A99"], "A99"),
        (["A18", "--seeds", "7"], "--seeds 7"),
        (["A18", "--budget-s", "0"], "--budget-s 0"),
        (["A18", "--scoreboard", "nowhere/at/all.md"], "nowhere/at"),
        (["./no_such_mutant.py"], "no_such_mutant.py"),
    ],
)
def test_a_mistake_is_one_line_and_3(capsys, arguments, named_):
    assert cli.run(["mutants", *arguments]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert named_ in line
