package org.apache.kafka.common.utils;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Virtual time for Kafka's simulation, in the place of the class of this name in its test jar: it
 * sums up by how much all clocks were moved.
 */
public class MockTime implements Time {
    /** Who is told that the time has changed. */
    public interface Listener {
        void onTimeUpdated();
    }

    private static long movedMs;

    private final List<Listener> listeners = new ArrayList<>();
    private long nowMs = 1_000_000_000_000L;

    /** Returns the milliseconds by which all clocks were moved since the start. */
    public static long movedMs() {
        return movedMs;
    }

    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        movedMs += ms;
        nowMs += ms;
        listeners.forEach(Listener::onTimeUpdated);
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("the simulation has one thread");
    }
}
