import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/** Prints every key that Kafka's server.properties may have, one a line, fields by tabs. */
public final class BrokerKeys {
    public static void main(String[] arguments) {
        for (ConfigDef.ConfigKey key :
                new TreeMap<>(kafka.server.KafkaConfig.configDef().configKeys()).values()) {
            System.out.println(String.join("\t",
                key.name,
                key.type.name(),
                key.hasDefault() && key.defaultValue != null
                    ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "",
                key.validator == null ? "" : key.validator.getClass().getSimpleName(),
                key.validator == null ? "" : key.validator.toString(),
                key.internalConfig ? "internal" : ""));
        }
    }
}
