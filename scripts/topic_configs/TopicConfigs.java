import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Prints what Kafka's jars define of each topic configuration, one a line, fields by tabs. */
public final class TopicConfigs {
    public static void main(String[] arguments) throws Exception {
        Field field = LogConfig.class.getDeclaredField("CONFIG");
        field.setAccessible(true);
        ConfigDef definitions = (ConfigDef) field.get(null);
        Map<String, List<ConfigSynonym>> synonyms =
            ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS;
        for (ConfigDef.ConfigKey key : new TreeMap<>(definitions.configKeys()).values()) {
            String validator = key.validator == null ? "" : key.validator.getClass().getSimpleName();
            String of = synonyms.getOrDefault(key.name, List.of()).stream()
                .map(synonym -> synonym.name() + "*" + factor(synonym))
                .collect(Collectors.joining(","));
            System.out.println(String.join("\t",
                key.name,
                key.type.name(),
                key.hasDefault() && key.defaultValue != null
                    ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "",
                validator,
                key.validator == null ? "" : key.validator.toString(),
                key.internalConfig ? "internal" : "",
                of));
        }
    }

    /** The number of the topic's units in one unit of the broker's key. */
    private static String factor(ConfigSynonym synonym) {
        try {
            return synonym.converter().apply("1");
        } catch (NumberFormatException notANumber) {
            return "1";
        }
    }
}
