"""The shell's Workers in the simulator: work on the disk takes virtual time.

A server does such work in threads; here the steps are taken one by one with time in between, so a
process may end between any two.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

from typing_extensions import override

from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.port_contract import PortContract
from kraftproof.cluster.simulated.node.suspension import Suspension
from kraftproof.node.shell.ports import Failed, Workers
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch

T = TypeVar("T")


class SimulatedWorkers(Workers):
    """Disk work of a simulated process: reads, writes and flushes on virtual time."""

    def __init__(
        self, env: NodeEnvironment, suspension: Suspension, contract: PortContract
    ) -> None:
        self._env = env
        self._contract = contract
        self._suspension = suspension
        self._is_closed = False

    def close(self) -> None:
        """Leave undone what is not done yet."""
        self._is_closed = True

    @override
    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Failed) -> None:
        suspension = self._suspension

        def finish() -> None:
            """The system's part, which a stopped process does not stop."""
            if self._is_closed:
                return
            try:
                fsync()
            except OSError as raised:
                error = raised
                suspension.when_running(lambda: failed(error))
            else:
                suspension.when_running(done)

        env = self._env
        env.scheduler.after(env.fsync_ns(), lambda: suspension.guard(finish))

    @override
    def encode(self, batch: Batch, done: Callable[[bytes], None], failed: Failed) -> None:
        """Encode after as long as an fsync takes."""
        env, when_running = self._env, self._suspension.when_running

        def finish() -> None:
            if not self._is_closed:
                done(encode_batch(batch))

        env.scheduler.after(env.fsync_ns(), lambda: when_running(finish))

    @override
    def run(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        contract = self._contract
        contract.snapshot_begins()

        def ended(result: T) -> None:
            contract.snapshot_ends()
            done(result)

        self.background(steps, ended, failed)

    @override
    def background(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        env, when_running = self._env, self._suspension.when_running

        def step() -> None:
            if self._is_closed:
                steps.close()
                return
            try:
                next(steps)
            except StopIteration as stop:
                done(stop.value)
                return
            except OSError as error:
                failed(error)
                return
            env.on_next_write()
            later()

        def later() -> None:
            """A step takes as long as an fsync."""
            env.scheduler.after(env.fsync_ns(), lambda: when_running(step))

        later()

    @override
    def barrier(self, done: Callable[[], None]) -> None:
        env, when_running, contract = self._env, self._suspension.when_running, self._contract

        def on_disk() -> None:
            contract.barrier_ends()
            done()

        env.scheduler.after(env.fsync_ns(), lambda: when_running(on_disk))
