"""A call of one of Kafka's own tools. No tests here."""

from dataclasses import dataclass
from typing import Final

TOOLS: Final = "org.apache.kafka.tools."
CONFIGS: Final = "kafka.admin.ConfigCommand"
TOPICS: Final = f"{TOOLS}TopicCommand"
REASSIGN: Final = f"{TOOLS}reassign.ReassignPartitionsCommand"
GROUPS: Final = f"{TOOLS}consumer.group.ConsumerGroupCommand"
CONSUMER: Final = f"{TOOLS}consumer.ConsoleConsumer"
TRANSACTIONS: Final = f"{TOOLS}TransactionsCommand"
METRICS: Final = f"{TOOLS}ClientMetricsCommand"
FEATURES: Final = f"{TOOLS}FeatureCommand"
QUORUM: Final = f"{TOOLS}MetadataQuorumCommand"
UNSUPPORTED: Final = "UnsupportedVersionException|The node does not support|unexpected error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A run of a tool.

    Attributes:
        tool: Its name for users.
        call: The row of docs/clients.md.
        main_class: Its class.
        options: Its arguments; {brokers}, {controllers} and {folder} are replaced.
        prints: What its output must match.
        is_refused: Whether `prints` is the error of a refusal.
        text: Its standard input.
        linger_seconds: Time that its threads get after the end of main.
    """

    tool: str
    call: str
    main_class: str
    options: str
    prints: str
    is_refused: bool = False
    text: str = ""
    linger_seconds: float = 0


def at(
    tool: str,
    main_class: str,
    call: str,
    options: str,
    prints: str,
    text: str = "",
) -> Step:
    """Return a step of a tool that takes --bootstrap-server."""
    return Step(
        tool=tool,
        call=call,
        main_class=main_class,
        options=f"--bootstrap-server {{brokers}} {options}",
        prints=prints,
        text=text,
    )


def refused(tool: str, main_class: str, call: str, options: str, error: str = UNSUPPORTED) -> Step:
    """Return a step that ends with an error."""
    return Step(
        tool=tool,
        call=call,
        main_class=main_class,
        options=f"--bootstrap-server {{brokers}} {options}",
        prints=error,
        is_refused=True,
    )


def topics(call: str, options: str, prints: str) -> Step:
    return at("kafka-topics", TOPICS, call, options, prints)


def configs(call: str, options: str, prints: str) -> Step:
    return at("kafka-configs", CONFIGS, call, options, prints)
