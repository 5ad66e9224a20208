package org.apache.kafka.raft;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.kafka.common.utils.MockTime;

/**
 * Runs the properties of Kafka's RaftEventSimulationTest in turn, with arguments drawn from the
 * ranges that they name, until the process has used so many CPU-seconds. Prints one JSON object.
 *
 * <p>Arguments: seed, CPU-seconds, and the CPU-seconds after which it counts anew, as warm.
 */
public class SimulationSpeed {
    private static final OperatingSystemMXBean PROCESS =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Random random = new Random(Long.parseLong(arguments[0]));
        double until = Double.parseDouble(arguments[1]);
        double warmUp = Double.parseDouble(arguments[2]);
        List<Method> properties = Arrays.stream(RaftEventSimulationTest.class.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(Property.class))
            .sorted(Comparator.comparing(Method::getName))
            .toList();
        RaftEventSimulationTest test = new RaftEventSimulationTest();
        int runs = 0;
        int failed = 0;
        double coldS = -1;
        double coldSimulatedS = 0;
        while (cpuS() < until) {
            if (coldS < 0 && cpuS() > warmUp) {
                coldS = cpuS();
                coldSimulatedS = MockTime.movedMs() / 1e3;
            }
            Method property = properties.get(runs++ % properties.size());
            try {
                property.invoke(test, drawn(property, random));
            } catch (InvocationTargetException failure) {
                failed++;
            }
        }
        double simulatedS = MockTime.movedMs() / 1e3;
        double allS = cpuS();
        System.out.printf(
            Locale.ROOT,
            "{\"properties\": %d, \"runs\": %d, \"failed\": %d, \"simulated_s\": %f, \"cpu_s\": %f,"
                + " \"warm_simulated_s\": %f, \"warm_cpu_s\": %f}%n",
            properties.size(), runs, failed, simulatedS, allS,
            simulatedS - coldSimulatedS, allS - coldS);
    }

    private static double cpuS() {
        return PROCESS.getProcessCpuTime() / 1e9;
    }

    private static Object[] drawn(Method property, Random random) {
        return Arrays.stream(property.getParameters())
            .map(parameter -> drawn(parameter, random))
            .toArray();
    }

    private static Object drawn(Parameter parameter, Random random) {
        if (parameter.getType() == boolean.class) {
            return random.nextBoolean();
        }
        IntRange range = parameter.getAnnotation(IntRange.class);
        return range == null ? random.nextInt() : random.nextInt(range.min(), range.max() + 1);
    }
}
