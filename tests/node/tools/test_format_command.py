"""kraft-storage format: the options, output and files of Kafka 4.3's kafka-storage."""

from pathlib import Path

import pytest

from kraftproof.node.core.base.config import Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.bootstrap import FILE_NAME, read_bootstrap
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import read_meta_properties
from kraftproof.node.storage.voter_set import read_voters, voters_path
from kraftproof.node.tools import storage
from kraftproof.node.wire.types import format_uuid

CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
DIRECTORY_ID = "JEXY6aqzQY-32P5TStzaFg"
OTHER_ID = "MvDxzVmcRsaTz33bUuRU6A"
STATIC = "controller.quorum.voters=1@127.0.0.1:9093"
DYNAMIC = "controller.quorum.bootstrap.servers=127.0.0.1:9093"
VOTERS = f"1@127.0.0.1:9093:{DIRECTORY_ID},2@h:9094:{OTHER_ID}"


def config(tmp_path: Path, quorum: str = DYNAMIC, roles: str = "broker,controller") -> str:
    listeners = {
        "broker": "PLAINTEXT://127.0.0.1:9092",
        "controller": "CONTROLLER://127.0.0.1:9093",
    }
    path = tmp_path / "server.properties"
    path.write_text(
        f"process.roles={roles}\nnode.id=1\n{quorum}\n"
        f"listeners={','.join(listeners[role] for role in roles.split(','))}\n"
        f"controller.listener.names=CONTROLLER\nlog.dirs={tmp_path}/b,{tmp_path}/a\n"
        f"metadata.log.dir={tmp_path}/b\n"
    )
    return str(path)


def formatted(path: str, *options: str) -> int:
    return storage.run(["format", "-t", CLUSTER_ID, "-c", path, *options])


def test_every_directory_gets_the_first_records_and_is_named_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert formatted(config(tmp_path, STATIC), "-r", "4.0", "-f", "group.version=0") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Bootstrap metadata: BootstrapMetadata(records=["
        "ApiMessageAndVersion(FeatureLevelRecord(name='metadata.version', featureLevel=25)"
        " at version 0), "
        "ApiMessageAndVersion(FeatureLevelRecord(name='transaction.version', featureLevel=2)"
        " at version 0)], metadataVersionLevel=25, source=format command)",
        f"Formatting data directory {tmp_path}/a with metadata.version 4.0-IV3.",
        f"Formatting metadata directory {tmp_path}/b with metadata.version 4.0-IV3.",
    ]
    first = (tmp_path / "a" / FILE_NAME).read_bytes()
    assert first == (tmp_path / "b" / FILE_NAME).read_bytes()
    assert read_voters(Disk(), f"{tmp_path}/b") == ()


def test_a_standalone_controller_is_the_sole_voter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert formatted(config(tmp_path), "--standalone") == 0
    assert f"Formatting dynamic metadata voter directory {tmp_path}/b" in capsys.readouterr().out
    voter = Voter(node_id=NodeId(1), host="127.0.0.1", port=9093)
    assert read_voters(Disk(), f"{tmp_path}/b") == (voter,)
    assert not Path(voters_path(f"{tmp_path}/a")).exists()


def test_initial_controllers_are_voters_and_give_the_directory_its_id(tmp_path: Path) -> None:
    assert formatted(config(tmp_path), "-I", VOTERS) == 0
    assert read_voters(Disk(), f"{tmp_path}/b") == (
        Voter(node_id=NodeId(1), host="127.0.0.1", port=9093),
        Voter(node_id=NodeId(2), host="h", port=9094),
    )
    ids = [read_meta_properties(Disk(), f"{tmp_path}/{name}").directory_id for name in "ab"]
    assert ids[0] is not None
    assert ids[1] is not None
    assert format_uuid(ids[1]) == DIRECTORY_ID
    assert format_uuid(ids[0]) != DIRECTORY_ID


@pytest.mark.parametrize(
    ("roles", "options", "kind"),
    [
        ("broker,controller", ["--no-initial-controllers"], "metadata"),
        ("broker", [], "metadata"),
        ("broker", ["-I", f"7@h:1:{DIRECTORY_ID}"], "dynamic metadata"),
    ],
)
def test_a_directory_of_no_voter(
    tmp_path: Path,
    roles: str,
    options: list[str],
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert formatted(config(tmp_path, roles=roles), *options) == 0
    assert f"Formatting {kind} directory {tmp_path}/b with" in capsys.readouterr().out


@pytest.mark.requirement("631-94")
@pytest.mark.parametrize(
    ("quorum", "roles", "options", "words"),
    [
        (DYNAMIC, "controller", [], "you must specify one of the following: --standalone"),
        (DYNAMIC, "broker", ["-s"], "You can only use --standalone on a controller."),
        (STATIC, "controller", ["-s"], "You cannot specify controller.quorum.voters and"),
        (STATIC, "controller", ["-I", VOTERS], "You cannot specify controller.quorum.voters and"),
        (DYNAMIC, "controller", ["-I", "1@h:1"], "'1@h:1' is not id@host:port:directory"),
        (DYNAMIC, "controller", ["-I", "1@h:1:short"], "directory ID 'short'"),
        (DYNAMIC, "controller", ["-I", f"1@h:99999:{OTHER_ID}"], "Invalid port 99999"),
        (DYNAMIC, "controller", ["-I", f"1@h:1:{OTHER_ID},1@h:2:{OTHER_ID}"], "Node id 1 was spe"),
        (DYNAMIC, "controller", ["-N", "-f", "kraft.version=0"], "Cannot set kraft.version to 0"),
        (STATIC, "controller", ["-f", "kraft.version=1"], "Cannot set kraft.version to 1 unless"),
        (STATIC, "controller", ["-r", "3.2"], "Unknown metadata.version '3.2'. Supported"),
        (STATIC, "controller", ["-r", "3.7-IV"], "Unknown metadata.version '3.7-IV'. Supported"),
        (STATIC, "controller", ["-r", "4.4-IV0"], "Unknown metadata.version '4.4-IV0'. Supp"),
        (STATIC, "controller", ["-f", "metadata.version=31"], "4.4-IV0 is not yet stable."),
        (STATIC, "controller", ["-f", "metadata.version=99"], "feature level 99. Valid feature"),
        (STATIC, "controller", ["-f", "metadata.version=x"], "unable to parse x as a short."),
        (STATIC, "controller", ["-f", "metadata.version"], "equals sign not found."),
        (STATIC, "controller", ["-f", "x.version=1"], "Unsupported feature: x.version. Supported"),
        (STATIC, "controller", ["-f", "group.version=7"], "No feature:group.version with feature"),
        (
            STATIC,
            "controller",
            ["-r", "3.9", "-f", "metadata.version=7"],
            "Use --release-version instead of --feature metadata.version=X",
        ),
        (
            STATIC,
            "controller",
            ["-f", "metadata.version=22", "-f", "eligible.leader.replicas.version=1"],
            "could not be set to 1 because it depends on metadata.version level 23",
        ),
        (
            STATIC,
            "controller",
            ["-r", "3.4", "-S", "SCRAM-SHA-256=[name=a,password=b]"],
            "SCRAM is only supported in metadata.version 3.5-IV2 or later.",
        ),
    ],
)
def test_a_mistake_is_one_line_and_formats_nothing(
    tmp_path: Path,
    quorum: str,
    roles: str,
    options: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert formatted(config(tmp_path, quorum, roles), *options) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "b").exists()


def test_options_of_the_quorum_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        formatted(config(tmp_path), "-s", "-N")
    assert caught.value.code == 1
    assert "not allowed with argument -s/--standalone" in capsys.readouterr().err


def test_the_keys_of_a_credential_are_in_the_file_and_not_in_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    credential = "SCRAM-SHA-256=[name=alice,password=alice-secret]"
    assert formatted(config(tmp_path, STATIC), "-S", credential) == 0
    said = capsys.readouterr().out
    assert "UserScramCredentialRecord(name='alice', mechanism=1, salt=[hidden]" in said
    assert "alice-secret" not in said
    _, stored = read_bootstrap(Disk(), f"{tmp_path}/b").records
    assert stored.name == "alice"
