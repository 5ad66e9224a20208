import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.utils.Exit;

/**
 * Runs main classes in one virtual machine, one after another, and keeps the output of each apart.
 *
 * <p>A request on the standard input: the number of words, the words (the class, then its
 * arguments), the standard input of the program, its time limit, and for how long its threads may
 * work on after main has returned (both in ms). An answer on the standard output: the status, the
 * standard output, the standard error. All numbers have four bytes; a text is its length and its
 * bytes in UTF-8. A program that does not end in time has the status {@link #OVERDUE}, and the
 * stack of its thread in its standard error.
 */
public final class ToolHost {
    static final int OVERDUE = 1000;

    /** The end of a program by Exit.exit. */
    private static final class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    /** One run of a program. */
    private static final class Run {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final List<Runnable> hooks = new ArrayList<>();
        Thread thread;
        Integer status;

        synchronized void end(int code) {
            if (status == null) {
                status = code;
            }
        }

        /** A process is gone after its exit: its thread prints no more. */
        synchronized boolean isMute() {
            return status != null && Thread.currentThread() == thread;
        }
    }

    private static volatile Run current = new Run();

    private ToolHost() {
    }

    public static void main(String[] arguments) throws IOException {
        DataInputStream requests = new DataInputStream(System.in);
        DataOutputStream answers = new DataOutputStream(System.out);
        System.setOut(captured(false));
        System.setErr(captured(true));
        Exit.setExitProcedure((status, message) -> exit(status));
        Exit.setHaltProcedure((status, message) -> exit(status));
        Exit.setShutdownHookAdder((name, hook) -> current.hooks.add(hook));
        while (true) {
            String[] words;
            try {
                words = new String[requests.readInt()];
            } catch (EOFException end) {
                return;
            }
            for (int place = 0; place < words.length; place++) {
                words[place] = new String(text(requests), StandardCharsets.UTF_8);
            }
            System.setIn(new ByteArrayInputStream(text(requests)));
            Run run = run(words, requests.readInt(), requests.readInt());
            answers.writeInt(run.status);
            write(answers, run.out);
            write(answers, run.err);
            answers.flush();
        }
    }

    private static void exit(int status) {
        current.end(status);
        throw new Ended();
    }

    private static Run run(String[] words, int limitMs, int lingerMs) {
        Run run = new Run();
        run.thread = new Thread(() -> call(run, words, lingerMs), words[0]);
        run.thread.setDaemon(true);
        current = run;
        run.thread.start();
        join(run.thread, limitMs);
        if (run.thread.isAlive()) {
            StringBuilder stack = new StringBuilder("not ended in time:\n");
            for (StackTraceElement element : run.thread.getStackTrace()) {
                stack.append("  at ").append(element).append('\n');
            }
            byte[] bytes = stack.toString().getBytes(StandardCharsets.UTF_8);
            run.err.write(bytes, 0, bytes.length);
            run.end(OVERDUE);
            run.thread.interrupt();
            return run;
        }
        run.end(0);
        run.hooks.addAll(hooksOfMachine());
        for (Runnable hook : run.hooks) {
            Thread thread = new Thread(hook);
            thread.setDaemon(true);
            thread.start();
            join(thread, limitMs);
        }
        return run;
    }

    /** Takes the hooks that a program gave to the virtual machine itself. */
    @SuppressWarnings("unchecked")
    private static List<Thread> hooksOfMachine() {
        try {
            Class<?> owner = Class.forName("java.lang.ApplicationShutdownHooks");
            Field field = owner.getDeclaredField("hooks");
            field.setAccessible(true);
            synchronized (owner) {
                Map<Thread, Thread> hooks = (Map<Thread, Thread>) field.get(null);
                List<Thread> taken = new ArrayList<>(hooks.keySet());
                hooks.clear();
                return taken;
            }
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void call(Run run, String[] words, int lingerMs) {
        String[] arguments = java.util.Arrays.copyOfRange(words, 1, words.length);
        try {
            Class.forName(words[0]).getMethod("main", String[].class)
                .invoke(null, (Object) arguments);
            Thread.sleep(lingerMs);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                thrown.getCause().printStackTrace();
                run.end(1);
            }
        } catch (ReflectiveOperationException | InterruptedException failure) {
            failure.printStackTrace();
            run.end(1);
        }
    }

    private static void join(Thread thread, int limitMs) {
        try {
            thread.join(limitMs);
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static PrintStream captured(boolean isError) {
        OutputStream target = new OutputStream() {
            @Override
            public void write(int value) {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int start, int length) {
                Run run = current;
                if (!run.isMute()) {
                    (isError ? run.err : run.out).write(bytes, start, length);
                }
            }
        };
        return new PrintStream(target, true, StandardCharsets.UTF_8) {
            @Override
            public void close() {
                flush(); // Some programs close their standard output; the next one needs it.
            }
        };
    }

    private static byte[] text(DataInputStream source) throws IOException {
        return source.readNBytes(source.readInt());
    }

    private static void write(DataOutputStream target, ByteArrayOutputStream text)
            throws IOException {
        byte[] bytes = text.toByteArray();
        target.writeInt(bytes.length);
        target.write(bytes);
    }
}
