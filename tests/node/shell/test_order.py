"""Effects in order, barriers, and what ends a node."""

import pytest

from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.effects import EndRequest
from kraftproof.node.core.events import Flushed, Received, Stop, Tick
from tests.node.shell.effects import (
    APPEND,
    CLEAN,
    EXIT,
    INSTALL,
    PERSIST,
    TRUNCATE,
    flush,
    reply,
    send,
)
from tests.node.shell.in_memory_ports import Rig


def test_effects_are_carried_out_in_the_order_of_the_list():
    rig = Rig()
    rig.start()
    rig.node.planned.append([APPEND, flush(1), send(1), reply(1)])
    rig.receive("client")
    assert rig.notes == ["append", "start flush 1", "send", "reply"]
    assert [client for client, _ in rig.answers] == ["client"]


@pytest.mark.parametrize(("closes", "note"), [(False, "end"), (True, "close")])
def test_a_request_without_an_answer_ends_in_its_turn(closes, note):
    rig = Rig()
    rig.start()
    rig.node.planned.append([send(1), EndRequest(request=1, closes_connection=closes), send(2)])
    rig.receive("client")
    assert rig.notes == ["send", note, "send"]
    assert rig.answers == []


@pytest.mark.parametrize(
    ("barrier", "name"), [(PERSIST, "persist"), (TRUNCATE, "truncate"), (INSTALL, "install")]
)
def test_nothing_happens_after_a_barrier_before_it_is_on_disk(barrier, name):
    rig = Rig()
    rig.workers.has_slow_barriers = True
    rig.start()
    rig.step(barrier, send(1))
    rig.step(send(2))
    assert rig.notes == [name, "held"]
    assert rig.events == ["Tick"]
    rig.workers.barriers.popleft()()
    assert rig.notes == [name, "held", "released", "send", "send"]
    assert rig.events == ["Tick", "Tick"]


def test_a_disk_that_is_done_at_once_holds_nothing_up():
    rig = Rig()
    rig.start(PERSIST, PERSIST, send(1))
    assert rig.notes == [*["persist", "held", "released"] * 2, "send"]


@pytest.mark.parametrize("effect", [TRUNCATE, INSTALL, CLEAN])
def test_a_change_of_the_logs_files_waits_for_all_flushes(effect):
    rig = Rig()
    rig.start()
    rig.step(flush(1), flush(2), effect, send(1))
    assert rig.notes == ["start flush 1", "held"]
    rig.workers.held.popleft()()
    assert rig.notes[2:] == ["fsync", "start flush 2"]
    rig.step()
    assert rig.events == ["Tick"]
    rig.workers.held.popleft()()
    assert "send" in rig.notes
    assert rig.events == ["Tick", "Flushed", "Tick", "Flushed"]


def test_a_flush_does_not_hold_up_a_quorum_state():
    rig = Rig()
    rig.start(flush(1), PERSIST, send(1))
    assert rig.notes[-1] == "send"


@pytest.mark.parametrize("name", ["append", "persist", "truncate", "start flush 1"])
def test_after_a_failed_write_nothing_more_is_done(name):
    rig = Rig()
    rig.disk.fails.add(name)
    effect = {"append": APPEND, "persist": PERSIST, "truncate": TRUNCATE}.get(name, flush(1))
    rig.start(effect, send(1))
    rig.shell.stop()
    assert str(rig.failure) == "[Errno 5] Input/output error"
    assert rig.notes == []
    assert rig.events == []


def test_after_exit_nothing_more_is_done():
    rig = Rig()
    rig.start()
    rig.step(EXIT, send(1))
    rig.step(send(2))
    assert rig.exit_effect is EXIT
    assert rig.notes == []
    assert rig.events == ["Tick"]


def test_an_event_that_comes_amid_a_step_waits_for_its_end():
    rig = Rig()

    def fsync_at_once(fsync, done, failed):
        fsync()
        done()

    rig.workers.fsync = fsync_at_once
    rig.start()
    rig.step(flush(1), send(1))
    assert rig.notes == ["start flush 1", "fsync", "send"]
    assert rig.node.events == [None, Tick(), Flushed(log=METADATA_LOG, generation=1, end_offset=1)]


def test_a_turn_takes_so_many_events_and_leaves_the_rest():
    rig = Rig()
    rig.runs_when_woken = False
    rig.start()
    assert not rig.shell.has_work
    for _ in range(3):
        rig.shell.stop()
    rig.shell.run(2)
    assert (rig.events, rig.shell.has_work) == (["Stop", "Stop"], True)
    rig.shell.run(2)
    assert (rig.events, rig.shell.has_work) == (["Stop"] * 3, False)


def test_a_held_shell_has_no_work_until_the_disk_is_done():
    rig = Rig()
    rig.workers.has_slow_barriers = True
    rig.runs_when_woken = False
    rig.start(PERSIST, send(1))
    assert not rig.shell.has_work
    rig.workers.barriers.popleft()()
    assert rig.shell.has_work
    rig.shell.run(0)
    assert rig.notes[-1] == "send"
    assert not rig.shell.has_work


def test_the_deadline_is_set_at_the_end_of_each_step():
    rig = Rig()
    rig.node.wants = 7
    rig.start()
    assert rig.timers.deadline == 7
    rig.node.wants = None
    rig.shell.stop()
    assert rig.timers.deadline is None
    assert rig.node.events == [None, Stop()]


def test_requests_have_tokens_of_their_own_and_answers_find_their_clients():
    rig = Rig()
    rig.start()
    rig.receive("one")
    rig.receive("two")
    received = [event for event in rig.node.events if isinstance(event, Received)]
    assert [event.request for event in received] == [1, 2]
    rig.step(reply(2), reply(1))
    assert [client for client, _ in rig.answers] == ["two", "one"]


def test_a_closed_shell_takes_no_event():
    rig = Rig()
    rig.start(send(1))
    rig.shell.close()
    rig.shell.tick()
    assert rig.events == []
    assert rig.peers.made[0].is_closed
