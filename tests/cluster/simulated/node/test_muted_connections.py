"""Requests of a muted connection wait for the throttle time, in their order."""

from kraftproof.cluster.simulated.node.muted_connections import MutedConnections


def muted():
    timers, taken = [], []
    found = MutedConnections(lambda delay_ns, action: timers.append((delay_ns, action)))

    def ask(connection, name):
        def take():
            if not found.holds(connection, take):
                taken.append(name)

        take()

    return found, timers, taken, ask


def test_requests_wait_for_the_longest_time_and_keep_their_order():
    found, timers, taken, ask = muted()
    ask("c", 1)
    found.mute("c", 500)
    found.mute("c", 900)
    for name in (2, 3):
        ask("c", name)
    ask("other", 4)
    assert taken == [1, 4]
    timers[0][1]()
    assert taken == [1, 4]
    timers[1][1]()
    assert taken == [1, 4, 2, 3]


def test_a_request_that_is_muted_again_waits_again():
    found, timers, taken, ask = muted()
    found.mute("c", 500)
    for name in (1, 2):
        ask("c", name)
    first = timers.pop(0)[1]
    held = found._held["c"]
    held.appendleft(lambda: found.mute("c", 700))
    first()
    assert taken == []
    timers.pop(0)[1]()
    assert taken == [1, 2]
