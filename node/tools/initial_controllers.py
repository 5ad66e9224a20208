"""Parse --initial-controllers: `id@host:port:directory`, separated by commas (KIP-853)."""

import re
from typing import Final

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.storage.meta_properties import is_reserved
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.generated.voters import Endpoint, KRaftVersionFeature, Voter
from kraftproof.node.wire.types import Uuid, parse_uuid

OPTION: Final = "--initial-controllers"
EXAMPLE: Final = "1@example.com:9093:JEXY6aqzQY-32P5TStzaFg"
LARGEST_PORT: Final = 65535
_VOTER: Final = re.compile(r"(\d{1,10})@(\[[^\]]+\]|[^:\[\]]+):(\d{1,5}):(.+)")


def initial_voter(node_id: int, host: str, port: int, directory_id: Uuid, listener: str) -> Voter:
    """Return the record of a voter with the supported levels of kraft.version."""
    return Voter(
        voter_id=node_id,
        voter_directory_id=directory_id,
        endpoints=(Endpoint(name=listener, host=host, port=port),),
        k_raft_version_feature=KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )


def parse_initial_controllers(text: str, listener: str) -> tuple[Voter, ...]:
    """Return the voters in order of their ids.

    Raises:
        ConfigError: an entry is malformed, or an id is named twice.
    """
    voters: dict[int, Voter] = {}
    for part in text.split(","):
        voter = _parse_voter(part.strip(), listener)
        if voter.voter_id in voters:
            raise ConfigError(f"{OPTION}: Node id {voter.voter_id} was specified more than once.")
        voters[voter.voter_id] = voter
    return tuple(voters[node_id] for node_id in sorted(voters))


def _parse_voter(part: str, listener: str) -> Voter:
    match = _VOTER.fullmatch(part)
    if match is None:
        raise ConfigError(f"{OPTION}: {part!r} is not id@host:port:directory, such as {EXAMPLE}")
    number, host, port, directory = match.groups()
    if int(number) > 0x7FFFFFFF:
        raise ConfigError(f"{OPTION}: {part!r}: {number} is no node id")
    if int(port) > LARGEST_PORT:
        raise ConfigError(f"{OPTION}: {part!r}: Invalid port {port} in dynamic voter string.")
    try:
        directory_id = parse_uuid(directory)
    except WireError as error:
        raise ConfigError(f"{OPTION}: {part!r}: directory ID {error}") from error
    if is_reserved(directory_id):
        raise ConfigError(f"{OPTION}: {part!r}: directory ID {directory} is reserved")
    return initial_voter(int(number), host.strip("[]"), int(port), directory_id, listener)
