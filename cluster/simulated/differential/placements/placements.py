"""Compare the replicas of a broker with the image, over topics, failures, answers and restarts."""

from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.bare_data_plane import FIRST_BROKER_EPOCH
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.placements.placed_broker import (
    BROKER,
    DIRECTORIES,
    OTHER,
    PlacedBroker,
    Request,
    Told,
    assigned_in,
    first_image,
    name_of,
    partition_of,
)
from kraftproof.cluster.simulated.differential.placements.sizes import SegmentSizes
from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import CreateLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import assign_replicas_to_dirs_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

STEPS: Final = 50
LAST_ROUNDS: Final = 8
OLD_SHARE: Final = 0.2
"""Share of topics that a metadata.version without directories has written."""
CONTROLLERS: Final = (8, 9)
LONGEST_BACKOFF_MS: Final = 10_000
_UNKNOWN: Final = Uuid(b"unknown director")
_ANOTHER: Final = Uuid(b"o" * 16)
"""The directory of the other broker."""
_RESERVED: Final = (MIGRATING, UNASSIGNED, LOST)
Response = assign_replicas_to_dirs_response


def compare_placements(random: Random) -> None:
    """Change topics and directories, and compare each log and each report with the image.

    Raises:
        DifferenceError: a log is elsewhere, is missing or is left over, or a report is false.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()
    run.settle()


class _Run:
    """The broker, and the model of its logs."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ages = copy(random)
        """Draws which topics are older than directories; recorded seeds keep their runs."""
        self._image = first_image()
        self._sizes = SegmentSizes(random, BROKER)
        self._online = list(DIRECTORIES[: random.choice((1, 2, 3, 3))])
        self._has_failed = len(self._online) < len(DIRECTORIES)
        self._logs: dict[LogId, Uuid] = {}
        """The directory of each log on the disk, also in failed directories."""
        self._working: dict[LogId, Uuid] = {}
        """The directory of each log that the process has."""
        self._offline: set[LogId] = set()
        self._left: list[LogId] = []
        """The replicas that were moved away from the broker."""
        self._told: set[LogId] = set()
        """The replicas of the last report that the controller has carried out."""
        self._topics, self._most = 0, random.choice((1, 3, 50))
        self._broker = self._started()
        self._expect_start()

    def step(self) -> None:
        """Change something, and compare the logs."""
        random, logs = self._random, sorted(self._assigned())
        kind = random.uniform(0.22 * (len(logs) >= self._most), 1)
        if not logs or kind < 0.22:
            self._create()
        elif kind < 0.26:
            topic_id = random.choice(logs).topic_id
            self._publish(records.RemoveTopicRecord(topic_id=topic_id))
        elif kind < 0.42:
            self._leave_or_return(random.choice(logs))
        elif kind < 0.56:
            place = random.choice((*DIRECTORIES, UNASSIGNED, _UNKNOWN))
            told = [log for log in logs if log in self._told]
            self._publish(self._moved(random.choice(told or logs), place))
        elif kind < 0.59 and len(self._online) > 1:
            self._fail(random.choice(self._online))
        elif kind < 0.62:
            self._restart()
        elif kind < 0.67:
            self._broker.controller = random.choice((*CONTROLLERS, -1))
            self._broker.advance()
        elif kind < 0.72:
            self._broker.pass_time(random.choice((100, LONGEST_BACKOFF_MS)))
        elif self._broker.told:
            self._answer(random.choice(self._broker.told), random.random())
        self._compare()

    def settle(self) -> None:
        """Let a controller carry out every report, and compare the image with the logs."""
        self._broker.controller = CONTROLLERS[0]
        for _ in range(LAST_ROUNDS):
            self._broker.pass_time(LONGEST_BACKOFF_MS)
            self._compare()
            for told in list(self._broker.told):
                self._answer(told, 1.0)
        for log, assigned in sorted(self._assigned().items()):
            if log in self._working:
                same(f"the directory of {log} in the image", assigned, self._working[log])
            else:
                is_working = assigned in {MIGRATING, UNASSIGNED, *self._online}
                check(f"the image knows that {log} is offline", not is_working)

    def _assigned(self) -> dict[LogId, Uuid]:
        """Return the directory in the image of each replica of the broker."""
        return assigned_in(self._image)

    def _publish(self, *written: Record) -> None:
        """Publish records, and change the model by the new image."""
        self._image = self._sizes.change(apply_all(self._image, written))
        assigned = self._assigned()
        for log in [log for log in (*self._working, *self._offline) if log not in assigned]:
            directory = self._working.pop(log, None)
            self._offline.discard(log)
            if directory is not None:
                del self._logs[log]
        self._place(assigned, is_start=False)
        self._broker.publish(self._image)

    def _place(self, assigned: dict[LogId, Uuid], *, is_start: bool) -> None:
        """Create the missing logs in the model, in order."""
        for log in sorted(assigned):
            if log in self._working or log in self._offline:
                continue
            place = assigned[log]
            if place not in self._online:
                is_lost = self._has_failed and (is_start or place not in _RESERVED)
                if is_lost:
                    self._offline.add(log)
                    continue
                held = list(self._working.values())
                place = min(self._online, key=held.count)
            self._logs[log] = self._working[log] = place

    def _create(self) -> None:
        """Create a topic with replicas in drawn directories."""
        random = self._random
        self._topics += 1
        topic_id = Uuid((1000 + self._topics).to_bytes(16, "big"))
        place = random.choice((UNASSIGNED, UNASSIGNED, UNASSIGNED, MIGRATING, *DIRECTORIES))
        is_old = self._ages.random() < OLD_SHARE
        places = () if is_old else (_ANOTHER, place)
        count = random.choice((1, 2, 4))
        partitions = [partition_of(topic_id, index, places) for index in range(count)]
        topic = records.TopicRecord(name=name_of(topic_id), topic_id=topic_id)
        self._publish(topic, *partitions)

    def _leave_or_return(self, log: LogId) -> None:
        """Move a replica away from the broker, or one that has left back to the broker."""
        random, replicas, directories = self._random, [OTHER], [_ANOTHER]
        left = [one for one in self._left if one.topic_id in self._image.topics]
        if left and random.random() < 0.6:
            log = random.choice(left)
            self._left.remove(log)
            place = random.choice((UNASSIGNED, UNASSIGNED, *DIRECTORIES))
            replicas, directories = [OTHER, int(BROKER)], [_ANOTHER, place]
        else:
            self._left.append(log)
        change = records.PartitionChangeRecord(
            partition_id=log.partition,
            topic_id=log.topic_id,
            replicas=tuple(replicas),
            directories=tuple(directories),
        )
        self._publish(change)

    def _moved(self, log: LogId, place: Uuid) -> records.PartitionChangeRecord:
        return records.PartitionChangeRecord(
            partition_id=log.partition, topic_id=log.topic_id, directories=(_ANOTHER, place)
        )

    def _fail(self, directory: Uuid) -> None:
        """Lose a directory while the broker runs."""
        self._online.remove(directory)
        self._has_failed = True
        for log in [log for log, place in self._working.items() if place == directory]:
            del self._working[log]
            self._offline.add(log)
        self._broker.fail(directory)

    def _restart(self) -> None:
        """Start another process, with all directories or with some of them."""
        random = self._random
        self._online = [one for one in DIRECTORIES if random.random() < 0.7] or [DIRECTORIES[0]]
        self._has_failed = len(self._online) < len(DIRECTORIES)
        self._broker = self._started()
        self._expect_start()
        self._compare()

    def _started(self) -> PlacedBroker:
        return PlacedBroker(
            self._image,
            self._online,
            self._logs,
            controller=self._random.choice(CONTROLLERS),
            time_ms=0,
        )

    def _expect_start(self) -> None:
        """Change the model by a start: strays go, and missing logs are created."""
        assigned = self._assigned()
        found = {log: place for log, place in self._logs.items() if place in self._online}
        for log in [log for log in found if log not in assigned]:
            del self._logs[log]
        self._working = {log: place for log, place in found.items() if log in assigned}
        self._offline = set()
        self._place(assigned, is_start=True)

    def _answer(self, told: Told, kind: float) -> None:
        """Answer a report: lost, refused, refused in part, or carried out."""
        if kind < 0.15:
            self._broker.answer(told, None)
            return
        if kind < 0.3:
            error = ErrorCode.NOT_CONTROLLER
            self._broker.answer(told, Response.AssignReplicasToDirsResponse(error_code=error))
            return
        changes: list[records.PartitionChangeRecord] = []
        places: list[assign_replicas_to_dirs_response.DirectoryData] = []
        for entry in told.message.directories:
            topics = []
            for topic in entry.topics:
                results = []
                for part in topic.partitions:
                    log = LogId(topic.topic_id, part.partition_index)
                    is_done = log in self._assigned() and (
                        kind > 0.6 or self._random.random() < 0.5
                    )
                    error = ErrorCode.NONE if is_done else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    changes += [self._moved(log, entry.id)] if is_done else []
                    results.append(
                        Response.PartitionData(partition_index=log.partition, error_code=error)
                    )
                topics.append(
                    Response.TopicData(topic_id=topic.topic_id, partitions=tuple(results))
                )
            places.append(Response.DirectoryData(id=entry.id, topics=tuple(topics)))
        self._told = {LogId(one.topic_id, one.partition_id) for one in changes}
        answer = Response.AssignReplicasToDirsResponse(directories=tuple(places))
        if self._random.random() < 0.5:
            self._publish(*changes)
            if told in self._broker.told:
                self._broker.answer(told, answer)
        else:
            self._broker.answer(told, answer)
            self._publish(*changes)

    def _compare(self) -> None:
        """Compare the effects and the reports with the model."""
        made: dict[LogId, Uuid] = {}
        for effect in self._broker.effects:
            if isinstance(effect, CreateLog):
                made[effect.log] = effect.directory
            else:
                check(f"{effect.log} is gone", effect.log not in self._working)
                made.pop(effect.log, None)
        self._broker.effects.clear()
        for log, place in made.items():
            same(f"the directory of the new {log}", place, self._working.get(log))
        self._sizes.compare(self._image, self._broker.segment_bytes, self._working)
        assigned = self._assigned()
        for told in self._broker.told:
            if not told.is_judged:
                told.is_judged = True
                self._judge(told.message, assigned)

    def _judge(self, request: Request, assigned: dict[LogId, Uuid]) -> None:
        """Compare a new report with the directories of the replicas."""
        own = (int(BROKER), FIRST_BROKER_EPOCH + BROKER)
        same("broker and epoch of a report", (request.broker_id, request.broker_epoch), own)
        for entry in request.directories:
            for topic in entry.topics:
                for part in topic.partitions:
                    log = LogId(topic.topic_id, part.partition_index)
                    if log in assigned and (log in self._working or entry.id == LOST):
                        place = self._working.get(log, LOST)
                        same(f"the told directory of {log}", entry.id, place)
