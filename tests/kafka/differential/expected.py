"""The differences from real Kafka that are meant to be there, each with its reason. No tests here.

docs/differences.md is this table: `python -m tests.kafka.differential.expected` writes it.
"""

from pathlib import Path
from typing import Final

from kraftproof.images.kafka.jars import VERSION
from tests.kafka.differential.difference import Difference
from tests.kafka.differential.expected_data import OF_DATA

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "differences.md"


DIFFERENCES: Final = (
    Difference(
        cases="*: timeoutMs *",
        fields=("*.error_message",),
        reason="A request whose timeoutMs leaves no time is refused with REQUEST_TIMED_OUT by "
        "both; ours says why in words, Kafka says nothing.",
    ),
    Difference(
        cases="validate: *",
        fields=("topics[*].topic_id",),
        reason="For a CreateTopics that only validates, Kafka answers an id that no topic will "
        "ever have. Ours answers none.",
    ),
    Difference(
        cases="delete: 10,001 names",
        fields=("responses*.error_code",),
        reason="A DeleteTopics of more than 10,000 topics is refused here with POLICY_VIOLATION "
        "for each, before a look-up: unknown names cost time, too. Kafka bounds only the written "
        "records: it answers UNKNOWN_TOPIC_OR_PARTITION for each unknown name, and "
        "UNKNOWN_SERVER_ERROR for each existing topic after the first 10,000, which it deletes.",
    ),
    Difference(
        cases="versions: *",
        fields=("api_keys.length", "api_keys[*"),
        reason="APIs that this node does not serve (yet) are not in its ApiVersions: groups, "
        "transactions, moves between directories, and changes of voters. Controllers serve the "
        "versions of Fetch with LastFetchedEpoch only (12 to 18), and those of Vote without "
        "PreVote.",
    ),
    Difference(
        cases="versions: *",
        fields=("supported_features*", "finalized_features*"),
        reason="This node supports metadata.version 7 to 30 and no other feature; "
        "Kafka supports a range of it, and kraft.version, transaction.version, group.version and "
        "others.",
    ),
    Difference(
        cases="metadata: neither name nor id",
        fields=("*",),
        reason="A Metadata topic without name and id ends in Kafka in an internal error, an answer "
        "without brokers. Ours answers UNKNOWN_TOPIC_ID for it.",
    ),
    Difference(
        cases="cluster: brokers of the controller",
        fields=("error_code",),
        reason="Version 0 of DescribeCluster has no endpoint type; at a controller Kafka answers "
        "it with INVALID_REQUEST, ours with MISMATCHED_ENDPOINT_TYPE as later versions.",
    ),
    Difference(
        cases="configs: documentation",
        fields=("*.documentation",),
        reason="Kafka's documentation of its configurations is not copied.",
    ),
    Difference(
        cases="configs: times of a broker",
        fields=("*.value",),
        reason="Without these keys a broker sends a heartbeat every 3 s, and its session lasts "
        "18 s, as KIP-631 says. Released Kafka has 2 s and 9 s.",
    ),
    Difference(
        cases="register: a negative id",
        fields=("broker_epoch", "error_code"),
        reason="Kafka registers broker -1, which its records take for no broker. Ours refuses it "
        "with INVALID_REQUEST.",
    ),
    Difference(
        cases="unregister: *",
        fields=("error_code", "error_message"),
        reason="To unregister a broker that is not registered is no error here (KIP-631: the "
        "request can be repeated); Kafka answers BROKER_ID_NOT_REGISTERED.",
    ),
    Difference(
        cases="fetch: each version",
        fields=("error_code", "responses*"),
        reason="Kafka refuses version 12 of a replica's Fetch with INVALID_REQUEST, since it has "
        "no topic id; ours takes it.",
    ),
    Difference(
        cases="fetch: *",
        fields=("*.diverging_epoch.end_offset",),
        reason="The logs are not the same: ours has a NoOpRecord for each read barrier, Kafka's "
        "one every half a second.",
    ),
    Difference(
        cases="fetch: *",
        fields=("node_endpoints*",),
        reason="The leader's endpoints (Fetch 16 and later) are not answered: voters are static "
        "(controller.quorum.voters), so who fetches knows them.",
    ),
    Difference(
        cases="fetch: *",
        fields=("*.high_watermark",),
        reason="With an error Kafka states no high watermark; ours states its own.",
    ),
    Difference(
        cases="fetch: an old epoch",
        fields=("*.error_code",),
        reason="The case's LastFetchedEpoch is above its CurrentLeaderEpoch, which Kafka refuses "
        "first (INVALID_REQUEST); ours sees the old epoch first (FENCED_LEADER_EPOCH).",
    ),
    Difference(
        cases="fetch: last fetched epoch beyond",
        fields=("*.error_code", "*.diverging_epoch.*"),
        reason="A LastFetchedEpoch above the CurrentLeaderEpoch is INVALID_REQUEST in Kafka; ours "
        "answers with the DivergingEpoch that the log has.",
    ),
    Difference(
        cases="fetch: a negative wait",
        fields=("*.error_code", "*.diverging_epoch.*"),
        reason="A negative MaxWaitMs is INVALID_REQUEST in Kafka; for ours it is no wait.",
    ),
    *(
        Difference(
            cases=f"fetch: {case}",
            fields=("responses*",),
            reason=f"{what}: Kafka's answer has no partitions, ours repeats the error in the "
            "metadata log's partition.",
        )
        for case, what in (
            ("the wrong cluster", "INCONSISTENT_CLUSTER_ID"),
            ("another partition", "INVALID_REQUEST for another partition"),
            ("the wrong topic", "INVALID_REQUEST for another topic"),
            ("no topic", "INVALID_REQUEST for no topic"),
        )
    ),
    Difference(
        cases="vote: each version",
        fields=("*.error_code", "node_endpoints*"),
        reason="A candidate that is not among the static voters is refused with "
        "INCONSISTENT_VOTER_SET (KIP-595); Kafka refuses it without error since voters can change.",
    ),
    Difference(
        cases="vote: an old epoch",
        fields=("*.error_code",),
        reason="The case's last epoch is not below its epoch, which Kafka refuses first "
        "(INVALID_REQUEST); ours sees the old epoch first (FENCED_LEADER_EPOCH).",
    ),
    *(
        Difference(
            cases=f"vote: {case}",
            fields=("*.error_code",),
            reason=f"A Vote with {case} by one that is no voter: ours sees first that it is none "
            "(INCONSISTENT_VOTER_SET), Kafka the impossible offset (INVALID_REQUEST).",
        )
        for case in ("a negative offset", "a last epoch beyond")
    ),
    *(
        Difference(
            cases=f"{request}: *an old epoch",
            fields=("*.error_code", "node_endpoints*"),
            reason=f"{name} of an old epoch by one that is no voter: ours sees first that it is "
            "none (INCONSISTENT_VOTER_SET), Kafka that the epoch is old (FENCED_LEADER_EPOCH).",
        )
        for request, name in (("begin", "BeginQuorumEpoch"), ("end", "EndQuorumEpoch"))
    ),
    Difference(
        cases="quorum: *",
        fields=("*.observers*",),
        reason="Kafka lists an observer once it has fetched with a directory id (kraft.version 1 "
        "writes them); ours lists any.",
    ),
    Difference(
        cases="quorum: another *",
        fields=("nodes*", "*.error_message"),
        reason="UNKNOWN_TOPIC_OR_PARTITION for any other partition than the metadata log's: ours "
        "names the voters' endpoints beside it, Kafka adds a text.",
    ),
    Difference(
        cases="quorum: two partitions",
        fields=("*",),
        reason="Kafka refuses all partitions of a DescribeQuorum that names more than the metadata "
        "log's; ours answers that one and refuses the others.",
    ),
    Difference(
        cases="snapshot: *",
        fields=("error_code", "topics*"),
        reason="Kafka can't encode its own refusals of FetchSnapshot (the records are null, which "
        "ends in UNKNOWN_SERVER_ERROR), and its refusal of another cluster names no partition. "
        "Ours answers the error in the partition.",
    ),
    *OF_DATA,
    Difference(
        cases="groups: *",
        fields=("*",),
        reason="A pure cluster of ours has no groups: nothing is committed, and a heartbeat gets "
        "UNSUPPORTED_VERSION. Kafka answers an error of its coordinator, which is not ready.",
    ),
    Difference(
        cases="coordinators: of groups",
        fields=("*error_code", "*error_message", "*node_id", "*host", "*port", "coordinators*"),
        reason="A pure cluster of ours has no coordinators. From version 2 on the broker names "
        "itself, and a client finds no request of groups in its ApiVersions; below, the answer is "
        "UNSUPPORTED_VERSION. Kafka answers COORDINATOR_NOT_AVAILABLE while it creates its own "
        "topic.",
    ),
    Difference(
        cases="acls: create ANY: *",
        fields=("results*.error_code", "results*.error_message"),
        reason="An entry with ANY or MATCH, which only filters may have, is refused with "
        "INVALID_REQUEST, alone and with a reason. Kafka 4.3 fails to read such a request and "
        "answers UNKNOWN_SERVER_ERROR for all its entries.",
    ),
    Difference(
        cases="envelope: nobody: *",
        fields=("response_data",),
        reason="A denial has the same code for each part. Ours says `Authorization failed.`; "
        "Kafka says nothing, the default text of the code, or prints its request object.",
    ),
    Difference(
        cases="features: *",
        fields=("results*",),
        reason="Versions 0 and 1 of UpdateFeatures have a result for each feature. Ours names the "
        "feature of the error there; Kafka 4.3 states the error of the whole request only.",
    ),
    Difference(
        cases="features: a feature twice",
        fields=("error_code", "error_message"),
        reason="A request that names a feature twice is refused with INVALID_REQUEST (KIP-584); "
        "Kafka 4.3 takes one of both.",
    ),
    Difference(
        cases="features: of Kafka: *",
        fields=("error_code", "error_message"),
        reason="Ours supports metadata.version and no other feature, and refuses a level of "
        "another one with INVALID_UPDATE_VERSION.",
    ),
    Difference(
        cases="increment: client metrics",
        fields=("*.error_code", "*.error_message"),
        reason="Kafka stores a subscription to client metrics also where no broker has a receiver "
        "for them. Ours refuses to set one with INVALID_REQUEST.",
    ),
    Difference(
        cases="controllers: an unknown one",
        fields=("error_code", "error_message"),
        reason="Kafka registers a controller that is no voter. Ours refuses it with "
        "INVALID_REGISTRATION: the voters are static.",
    ),
    Difference(
        cases="envelope: a request that may be forwarded",
        fields=("response_data",),
        reason="The answer inside is the same but for its text (TOPIC_ALREADY_EXISTS).",
    ),
)


def page() -> str:
    """Return docs/differences.md."""
    rows = "".join(
        f"| {difference.cases} | {', '.join(f'`{field}`' for field in difference.fields)} | "
        f"{difference.reason} |\n"
        for difference in DIFFERENCES
    )
    return (
        f"# Where our answers differ from Apache Kafka {VERSION}'s\n\n"
        "tests/kafka/differential sends the same requests to a real Kafka node and to one of "
        "ours, and\ncompares the answers field by field. What each start draws anew (ids, epochs, "
        "offsets, ports,\nthe placement of replicas) is not compared, nor are the words of a "
        "message, only whether there is\none. The order of the results is not compared either. "
        "This table is the whole of what differs: the\ntest fails on a difference that is not "
        "here, and on a row without a difference.\n\n"
        "Two requests are left out. A BeginQuorumEpoch that names another leader of the current "
        "epoch ends\na real Kafka node; ours refuses the request and goes on. An "
        "IncrementalAlterConfigs with an unknown\noperation gets UNKNOWN_SERVER_ERROR from "
        "Kafka, and its quorum has another epoch soon after; ours\nanswers INVALID_REQUEST.\n\n"
        "A broker whose controllers are all gone ends its controlled shutdown after its session "
        "(broker.session.timeout.ms,\n18.4 s measured at the default of 18 s): by then the "
        "controllers would have fenced the broker anyway. Kafka waits\nfive minutes.\n\n"
        "| requests | fields | ours, Kafka's, why |\n| --- | --- | --- |\n"
        f"{rows}\n"
        "The page is written by `python -m tests.kafka.differential.expected`.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
