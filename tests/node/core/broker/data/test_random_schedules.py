"""Random schedules of brokers, clients and the controller: nothing acknowledged is lost.

A schedule delivers messages in any order, loses some, ends and starts processes, fences brokers,
moves leaders, and lets brokers see the image late. After each step the invariants hold.
"""

from random import Random

import pytest

from tests.support.node.data_messages import change
from tests.support.node.data_world import LOG, DataWorld

STEPS = 1000


class Schedule:
    """One random run."""

    def __init__(self, seed, *, durable=False):
        self.random = Random(seed)
        configs = {"flush.messages": "1"} if durable else {}
        if self.random.random() < 0.5:
            configs["min.insync.replicas"] = "2"
        self.durable = durable
        self.world = DataWorld(configs=configs, seed=seed)
        self.sequences = {}
        """By producer: the next sequence, and the batch without a sure answer."""
        self.open = []
        self.acknowledged = {}
        """By offset: the value of an acknowledged batch."""
        self.committed = {}
        """By offset: the value of a batch below a leader's high watermark."""
        self.watermarks = {}

    def run(self):
        self.world.run(100)
        for _ in range(STEPS):
            self.step()
            self.check()
        self.heal()

    def step(self):
        world, random = self.world, self.random
        world.loss = random.choice((0.0, 0.0, 0.1))
        choice = random.random()
        if choice < 0.45 and world.queue:
            busy = [place for place, entry in enumerate(world.queue) if world._is_ready(entry)]
            if busy:
                world.deliver(random.choice(busy))
        elif choice < 0.7:
            world.time_ms += random.choice((1, 10, 60, 400))
            for broker in list(world.brokers.values()):
                if broker.is_up:
                    broker.tick()
        elif choice < 0.85:
            self.produce()
        elif choice < 0.97:
            world.publish(random.choice(sorted(world.brokers)))
        else:
            self.disturb()

    def produce(self):
        world, random = self.world, self.random
        node = world.partition.leader if random.random() < 0.8 else random.choice((1, 2, 3))
        if node not in world.brokers or not world.brokers[node].is_up:
            return
        producer = random.choice((1, 2))
        sequence, unsure = self.sequences.get(producer, (0, None))
        if unsure is None:
            unsure = (sequence, f"{producer}-{sequence}".encode())
            self.sequences[producer] = (sequence + 1, unsure)
        token = world.produce(
            node, 1, producer=(producer, 0, unsure[0]), value=unsure[1], timeout_ms=500
        )
        self.open.append((world.brokers[node], token, producer, unsure))

    def disturb(self):
        world, random = self.world, self.random
        node = random.choice((1, 2, 3))
        broker, registered = world.brokers[node], world.image.brokers[node]
        choice = random.random()
        if choice < 0.25 and broker.is_up:
            world.kill(node)
        elif choice < 0.55 and not broker.is_up:
            if self.durable and random.random() < 0.5:
                self.lose_unflushed(broker)
            if not registered.fenced:
                world.fence(node)
            world.restart(node)
            world.fence(node)
        elif choice < 0.75 and registered.fenced and broker.is_up:
            world.unfence(node)
        elif choice < 0.85 and not registered.fenced:
            world.fence(node)
        elif node in world.partition.isr and not registered.fenced:
            world.write(change(leader=node))

    def lose_unflushed(self, broker):
        replica = broker.data.replicas.by_log.get(LOG)
        flushed = 0 if replica is None else replica.index.flushed_offset
        broker.disk[LOG] = [b for b in broker.disk[LOG] if b.next_offset <= flushed]
        entries = self.world.epochs[broker.node_id, LOG]
        self.world.epochs[broker.node_id, LOG] = [e for e in entries if e.start_offset <= flushed]

    def check(self):
        self.take_answers()
        world = self.world
        for node in world.partition.isr:
            held = values(world.brokers[node])
            for offset, value in self.acknowledged.items():
                is_held = held.get(offset, b"").endswith(value)
                assert is_held, f"broker {node} lost offset {offset}"
        for node, broker in world.brokers.items():
            if broker.is_up:
                self.check_broker(node, broker)

    def check_broker(self, node, broker):
        index, held = broker.replica.index, values(broker)
        key = (node, broker.incarnation)
        assert index.high_watermark >= self.watermarks.get(key, 0), "a high watermark fell"
        self.watermarks[key] = index.high_watermark
        for offset in range(index.start_offset, index.high_watermark):
            known = self.committed.setdefault(offset, held[offset])
            assert held[offset] == known, f"offset {offset} changed after its commit"
        assert len(set(held.values())) == len(held), "a batch is in the log twice"

    def take_answers(self):
        waiting = []
        for broker, token, producer, unsure in self.open:
            if token not in broker.answers and broker.is_up:
                waiting.append((broker, token, producer, unsure))
                continue
            answer = broker.answers.get(token)
            part = answer and answer.responses[0].partition_responses[0]
            if part and part.error_code == 0:
                ending = bytes([2 * len(unsure[1])]) + unsure[1] + b"\0"
                self.acknowledged[part.base_offset] = ending
                sequence, open_batch = self.sequences[producer]
                if open_batch == unsure:
                    self.sequences[producer] = (sequence, None)
        self.open = waiting

    def heal(self):
        world = self.world
        world.loss = 0.0
        for node in (1, 2, 3):
            if not world.brokers[node].is_up:
                if not world.image.brokers[node].fenced:
                    world.fence(node)
                world.restart(node)
                world.fence(node)
        for _ in range(3):
            for node in (1, 2, 3):
                if world.image.brokers[node].fenced:
                    world.unfence(node)
            world.publish()
            world.run(4000)
            world.publish()
            self.check()
        logs = [[batch.data for batch in broker.disk[LOG]] for broker in world.brokers.values()]
        assert logs[0] == logs[1] == logs[2], "the replicas differ at the end"
        assert set(world.partition.isr) == {1, 2, 3}, "the ISR is not whole again"
        token = world.produce(world.partition.leader, 1)
        world.run(500)
        assert world.produced(world.partition.leader, token).error_code == 0


def values(broker):
    """The content of each batch by offset, without base offset and epoch."""
    return {batch.base_offset: batch.data[61:] for batch in broker.disk.get(LOG, [])}


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_loses_an_acknowledged_batch(seed):
    schedule = Schedule(seed)
    schedule.run()
    assert schedule.acknowledged


@pytest.mark.parametrize("seed", range(8))
def test_no_power_loss_loses_an_acknowledged_batch_of_a_durable_topic(seed):
    schedule = Schedule(1000 + seed, durable=True)
    schedule.run()
    assert schedule.acknowledged
