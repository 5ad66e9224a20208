import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.DynamicConfig;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;

/** Prints the dynamic configurations of brokers, groups and client metrics, one a line. */
public final class ResourceConfigs {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> modes = DynamicBrokerConfig.dynamicConfigUpdateModes();
        for (ConfigDef.ConfigKey key : sorted(kafka.server.KafkaConfig.configDef())) {
            if (DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS.contains(key.name)) {
                print("BROKER", key, modes.getOrDefault(key.name, ""));
            }
        }
        // The throttles of kafka-reassign-partitions exist as dynamic values only.
        for (ConfigDef.ConfigKey key : new TreeMap<>(DynamicConfig.Broker.configKeys()).values()) {
            if (!kafka.server.KafkaConfig.configDef().configKeys().containsKey(key.name)) {
                print("BROKER", key, "");
            }
        }
        for (ConfigDef.ConfigKey key : sorted(GroupConfig.CONFIG_DEF)) {
            print("GROUP", key, "");
        }
        for (ConfigDef.ConfigKey key : sorted(ClientMetricsConfigs.configDef())) {
            print("CLIENT_METRICS", key, "");
        }
    }

    private static Iterable<ConfigDef.ConfigKey> sorted(ConfigDef definitions) {
        return new TreeMap<>(definitions.configKeys()).values();
    }

    private static void print(String resource, ConfigDef.ConfigKey key, String mode) {
        System.out.println(String.join("\t",
            resource,
            key.name,
            key.type.name(),
            key.hasDefault() && key.defaultValue != null
                ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "",
            key.validator == null ? "" : key.validator.getClass().getSimpleName(),
            key.validator == null ? "" : key.validator.toString(),
            key.internalConfig ? "internal" : "",
            mode));
    }
}
