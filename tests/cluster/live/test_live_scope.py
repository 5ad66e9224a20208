"""The asyncio scope keeps the promises of the protocol."""

import asyncio

import pytest

from kraftproof.cluster.live.scope import LiveScope

MS = 1_000_000


def live(main):
    async def whole():
        scope = LiveScope()
        try:
            result = await main(scope)
            scope.raise_lost_errors()
            return result
        finally:
            await scope.cancel_rest()

    return asyncio.run(whole())


def test_of_several_that_are_ready_the_lowest_number_is_selected():
    async def main(scope):
        async def work(value):
            return value

        tasks = [scope.spawn(work(value)) for value in "abc"]
        await scope.sleep(5 * MS)
        return await (await scope.select(list(reversed(tasks))))

    assert live(main) == "a"


def test_a_race_is_lost_after_its_time_and_the_coroutine_cancelled():
    ended = []

    async def slow(scope):
        try:
            await scope.sleep(10_000 * MS)
        finally:
            ended.append(True)

    async def main(scope):
        return await scope.race(slow(scope), 10 * MS)

    assert live(main) is None
    assert ended == [True]


def test_a_promise_is_set_once_and_awaited_by_many():
    async def main(scope):
        promise = scope.promise()

        async def wait():
            return await promise

        tasks = [scope.spawn(wait()) for _ in range(3)]
        promise.set(1)
        promise.set(2)
        return [await task for task in tasks]

    assert live(main) == [1, 1, 1]


def test_an_error_that_nobody_takes_fails_the_run():
    async def main(scope):
        async def fail():
            raise LookupError("lost")

        scope.spawn(fail())
        await scope.sleep(5 * MS)

    with pytest.raises(LookupError, match="lost"):
        live(main)


def test_what_still_runs_at_the_end_is_cancelled():
    ended = []

    async def main(scope):
        async def endless():
            try:
                while True:
                    await scope.sleep(MS)
            finally:
                ended.append(True)

        scope.spawn(endless())
        await scope.sleep(5 * MS)

    live(main)
    assert ended == [True]


def test_a_coroutine_that_swallows_a_cancellation_is_cancelled_again():
    turns = []

    async def swallows(scope):
        try:
            await scope.sleep(10_000 * MS)
        except asyncio.CancelledError:
            turns.append("swallowed")
        await scope.sleep(10_000 * MS)

    async def main(scope):
        scope.spawn(swallows(scope))
        await scope.sleep(MS)

    async def whole():
        scope = LiveScope()
        await main(scope)
        async with asyncio.timeout(5):
            await scope.cancel_rest()

    asyncio.run(whole())
    assert turns == ["swallowed"]


def test_a_coroutine_that_cleans_up_is_not_cancelled_a_second_time():
    turns = []

    async def cleans_up(scope):
        try:
            await scope.sleep(10_000 * MS)
        finally:
            await scope.sleep(50 * MS)
            turns.append("cleaned up")

    async def main(scope):
        scope.spawn(cleans_up(scope))
        await scope.sleep(MS)

    live(main)
    assert turns == ["cleaned up"]
