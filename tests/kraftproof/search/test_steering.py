"""A search that can't run all seeds turns to those that promise what is not yet covered."""

from pathlib import Path

from kraftproof.search.coverage import Covered
from kraftproof.search.scenario import scenario
from kraftproof.search.steering import WINDOW, Steering

STORE = Path("store")


def make(seed):
    return scenario(seed, STORE, time_limit_s=10.0)


def first(steering, number, learn=lambda one: 0):
    seeds = []
    for one in steering:
        steering.learn(one, learn(one), 1000)
        seeds.append(one.options.seed)
        if len(seeds) == number:
            return seeds
    return seeds


def is_registration(one):
    return one.options.workload == "registration"


def test_without_it_seeds_come_in_their_order():
    assert first(Steering(range(5, 9), make, is_steered=False), 9) == [5, 6, 7, 8]


def test_with_it_every_seed_has_its_turn_all_the_same():
    steering = Steering(range(70), make, is_steered=True)
    assert sorted(first(steering, 100, learn=lambda one: 5 * is_registration(one))) == [*range(70)]


def test_it_turns_to_what_has_brought_new_cells():
    number = WINDOW // 2
    drawn = sum(is_registration(make(seed)) for seed in range(number))
    steering = Steering(range(1000), make, is_steered=True)
    chosen = first(steering, number, learn=lambda one: 100 * is_registration(one))
    assert sum(is_registration(make(seed)) for seed in chosen) > drawn


def test_every_other_time_the_oldest_seed_is_taken():
    steering = Steering(range(1000), make, is_steered=True)
    chosen = first(steering, 20, learn=lambda one: 100 * is_registration(one))
    assert len(chosen) == 20
    waiting = set(range(1000))
    for position, seed in enumerate(chosen):
        if position % 2 == 0:
            assert seed == min(waiting)
        waiting.remove(seed)


def test_the_same_lessons_give_the_same_order():
    orders = [
        first(Steering(range(99), make, is_steered=True), 40, learn=lambda one: one.options.seed)
        for _ in range(2)
    ]
    assert orders[0] == orders[1]


def test_what_is_covered_is_counted_by_runs_and_written_as_a_table(tmp_path):
    covered = Covered()
    vote, tick = ("leader", "Received Vote", "none"), ("leader", "Tick", "pause")
    assert covered.add(frozenset({vote})) == 1
    assert covered.add(frozenset({vote, tick})) == 1
    assert covered.describe() == ("2 cells of role x event x fault (1 roles, 2 events, 2 faults)")
    covered.write(tmp_path / "cells.tsv")
    assert (tmp_path / "cells.tsv").read_text().splitlines() == [
        "role\tevent\tfault\truns",
        "leader\tReceived Vote\tnone\t2",
        "leader\tTick\tpause\t1",
    ]


def test_a_run_without_events_is_no_obstacle():
    steering = Steering(range(60), make, is_steered=True)
    for one in steering:
        steering.learn(one, 3, 0)


def test_most_runs_with_records_have_followers():
    def logs(seed):
        return scenario(seed, STORE, workload="log")

    drawn = [logs(seed).options.brokers for seed in range(24)]
    steering = Steering(range(1000), logs, is_steered=True)
    chosen = [logs(seed).options.brokers for seed in first(steering, 24)]
    assert drawn.count(1) > 5
    assert 1 <= chosen.count(1) <= 3
    assert chosen[0] == drawn[0]


def test_every_seed_with_records_has_its_turn():
    def logs(seed):
        return scenario(seed, STORE, workload="log")

    for is_steered in (False, True):
        steering = Steering(range(60), logs, is_steered=is_steered)
        assert sorted(first(steering, 99)) == [*range(60)]
