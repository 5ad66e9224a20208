import pytest

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler, SimulationLimitError
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, TaskCancelled


def make() -> tuple[Scheduler, SimulatedScope]:
    scheduler = Scheduler()
    return scheduler, SimulatedScope(scheduler)


def run(scope, coroutine, until_ns=10_000):
    task = scope.spawn(coroutine)
    scope.scheduler.run_until(task.finished, until_ns=until_ns, maximum_events=10_000)
    return task


def result(scope, coroutine):
    task = run(scope, coroutine)
    if task.error is not None:
        raise task.error
    return task._result


def test_equal_times_are_first_in_first_out() -> None:
    scheduler, scope = make()
    seen: list[int] = []

    async def sleeper(number: int) -> None:
        await scope.sleep(100)
        seen.append(number)

    async def main() -> None:
        tasks = [scope.spawn(sleeper(number)) for number in range(20)]
        for task in tasks:
            await task

    run(scope, main())
    assert seen == list(range(20))
    assert scheduler.now_ns == 100


def test_race_returns_the_result_or_cancels() -> None:
    _, scope = make()
    cancelled = []

    async def slow() -> str:
        try:
            await scope.sleep(100)
        except TaskCancelled:
            cancelled.append(scope.now())
            raise
        return "done"

    async def main() -> tuple[str | None, str | None]:
        return await scope.race(slow(), 50), await scope.race(slow(), 150)

    assert result(scope, main()) == (None, "done")
    assert cancelled == [50]


def test_race_passes_errors_on() -> None:
    _, scope = make()

    async def bad() -> None:
        await scope.sleep(1)
        raise ValueError("no")

    async def main() -> None:
        await scope.race(bad(), 50)

    with pytest.raises(ValueError, match="no"):
        result(scope, main())


def test_select_gives_the_lowest_number_and_lets_the_others_go_on() -> None:
    _, scope = make()

    async def sleeper(duration: int) -> int:
        await scope.sleep(duration)
        return duration

    async def main() -> tuple[int, int]:
        late, first, second = (scope.spawn(sleeper(duration)) for duration in (90, 30, 30))
        chosen = await scope.select([second, late, first])
        return chosen.number - first.number, await late

    assert result(scope, main()) == (0, 90)


def test_a_promise_wakes_all_and_is_set_once() -> None:
    _, scope = make()
    promise = scope.promise()

    async def waiter() -> int:
        return await promise

    async def main() -> list[int]:
        tasks = [scope.spawn(waiter()) for _ in range(3)]
        await scope.sleep(5)
        promise.set(7)
        promise.set(8)
        return [await task for task in tasks]

    assert result(scope, main()) == [7, 7, 7]


def test_an_error_nobody_awaits_is_raised_at_the_end() -> None:
    _, scope = make()

    async def bad() -> None:
        raise ValueError("lost")

    async def main() -> None:
        scope.spawn(bad())
        await scope.sleep(10)

    run(scope, main())
    with pytest.raises(ValueError, match="lost"):
        scope.raise_lost_errors()


def test_cancel_before_the_first_step_runs_nothing() -> None:
    _, scope = make()
    ran = []

    async def child() -> None:
        ran.append(1)

    async def main() -> bool:
        task = scope.spawn(child())
        task.cancel()
        await scope.sleep(1)
        return task.done

    assert result(scope, main()) is True
    assert ran == []


async def forever(scope: SimulatedScope) -> None:
    while True:
        await scope.sleep(1)


def test_a_run_ends_at_its_time_limit() -> None:
    scheduler, scope = make()
    with pytest.raises(SimulationLimitError, match="not finished within 100 simulated ns"):
        run(scope, forever(scope), until_ns=100)
    assert scheduler.now_ns == 100


def test_a_run_ends_at_its_limit_of_events() -> None:
    scheduler, scope = make()
    with pytest.raises(SimulationLimitError, match="not finished within 10000 events"):
        run(scope, forever(scope), until_ns=1_000_000)
    assert scheduler.now_ns < 1_000_000


def test_a_run_in_which_nothing_is_left_to_happen_ends() -> None:
    _, scope = make()

    async def stuck() -> None:
        await scope.promise()

    with pytest.raises(SimulationLimitError, match="no timer is left"):
        run(scope, stuck())
