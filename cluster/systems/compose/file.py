"""Read a Compose file: YAML with variables, and the services in it.

What Kraftproof can't give to a node is an error of one line. What has no meaning for a node under
test, such as a restart policy, is left out, and the service names it. See service.py for the parts
of a service, and container.py for its nodes.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kraftproof.cluster.systems.compose.errors import ComposeFileError, Place
from kraftproof.cluster.systems.compose.extends import extended
from kraftproof.cluster.systems.compose.mounted_files import FOLDERS, files_of, with_files
from kraftproof.cluster.systems.compose.names import networks_of, refuse_shared_names
from kraftproof.cluster.systems.compose.parts import service_of
from kraftproof.cluster.systems.compose.service import Service
from kraftproof.cluster.systems.compose.values import mapping, text
from kraftproof.cluster.systems.compose.variables import substituted, variables
from kraftproof.spelling import nearest

EXTENSION: Final = "x-kraftproof"
_IGNORED: Final = frozenset({"version", "name"})
_KNOWN: Final = frozenset({"services", "volumes", "networks", *FOLDERS, EXTENSION})


class ComposeFile(Struct, frozen=True, kw_only=True):
    """A Compose file.

    Attributes:
        path: The file.
        services: Its services, in their order.
        client: The client that `x-kraftproof` names, as path/to/file.py:Class; None without one.
        left_out: Services that only a profile starts.
    """

    path: Path
    services: tuple[Service, ...]
    client: str | None
    left_out: tuple[str, ...]


class _Source:
    """Lines of the keys of a file, and its values with variables replaced."""

    def __init__(self, path: Path) -> None:
        self.known = variables(path.parent)
        self.place = Place(path)

    def plain(self, value: object, place: Place) -> Any:  # noqa: ANN401 - whatever YAML has
        """Return a value of plain lists, dicts and scalars, with variables replaced."""
        if isinstance(value, Mapping):
            return {str(k): self.plain(one, place.at(str(k))) for k, one in value.items()}
        if isinstance(value, list):
            return [self.plain(one, place) for one in value]
        return substituted(str(value), self.known, place) if isinstance(value, str) else value


def read_compose(path: Path) -> ComposeFile:
    """Return a Compose file.

    Raises:
        ComposeFileError: the file can't be read, has a mistake, or asks for something that a node
            can't have; one line.
    """
    tree = _tree(path)
    source = _Source(path)
    whole = mapping(tree, source.place)
    for key in whole:
        if key not in _KNOWN | _IGNORED and not key.startswith("x-"):
            raise source.place.at(key, _line(tree, key)).error("is not supported at the top level")
    volumes = _volumes(source, whole.get("volumes"))
    networks = networks_of(whole.get("networks"), source.place.at("networks"))
    services = mapping(whole.get("services"), source.place.at("services"))
    if not services:
        raise source.place.at("services").error("names no service, so there is no node")
    files = {
        key: files_of(key, source.plain(whole.get(key), source.place), source.place.at(key))
        for key in FOLDERS
    }

    def read(name: str) -> Mapping[str, object]:
        place = source.place.at(f"services.{name}", _line(services, name))
        if name not in services:
            near = nearest(name, services)
            raise place.error(f"there is no such service{near}, only {', '.join(services)}")
        return mapping(source.plain(services[name], place), place)

    found: list[Service] = []
    left_out: list[str] = []
    for name, node in services.items():
        place = source.place.at(f"services.{name}", _line(services, name))
        if isinstance(node, Mapping) and node.get("profiles"):
            left_out.append(name)
            continue
        places = _Places(place, node)
        folder = path.parent.absolute()
        values = with_files(extended(name, read, place), files, place, folder)
        found.append(service_of(name, values, places, folder, volumes, networks))
    if not found:
        raise source.place.at("services").error(
            f"each service has a profile and is left out ({', '.join(left_out)}), so there is no "
            "node"
        )
    file = ComposeFile(
        path=path,
        services=tuple(found),
        client=_client(source, whole.get(EXTENSION)),
        left_out=tuple(left_out),
    )
    _refuse_order(source.place, file)
    refuse_shared_names(file.services, source.place)
    return file


class _Places(dict[str, Place]):
    """The place of each key of a service."""

    def __init__(self, place: Place, node: object) -> None:
        super().__init__()
        self._place = place
        self._node = node

    def __missing__(self, key: str) -> Place:
        return self._place.at(key, _line(self._node, key))


def _tree(path: Path) -> object:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="rt").load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise ComposeFileError(f"{path}: can't be read: {reason}") from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = "" if mark is None else f"line {mark.line + 1}: "
        problem = " ".join(str(error.problem or error.context or "it is no YAML").split())
        raise ComposeFileError(f"{path}: {line}{problem}") from error
    except YAMLError as error:
        raise ComposeFileError(f"{path}: {' '.join(str(error).split())}") from error


def _line(node: object, key: str) -> int | None:
    """Return the line of a key, from 1 on, as far as YAML knows it."""
    try:
        line: int = node.lc.key(key)[0]  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError):
        return None
    return line + 1


def _volumes(source: _Source, value: object) -> frozenset[str]:
    """Return the names of the volumes, which are directories of the run."""
    place = source.place.at("volumes")
    found = {} if value is None else mapping(source.plain(value, place), place)
    for name, settings in found.items():
        for key in mapping(settings or {}, place.at(name)):
            if key not in {"name", "labels"} and not key.startswith("x-"):
                raise place.at(name).error(f"{key} is not supported: a volume is a new directory")
    return frozenset(found)


def _client(source: _Source, value: object) -> str | None:
    place = source.place.at(EXTENSION)
    if value is None:
        return None
    found = mapping(source.plain(value, place), place)
    for key in found:
        if key != "client":
            raise place.error(f"{key!r} is unknown, only client is known")
    return text(found.get("client"), place.at("client"))


def _refuse_order(place: Place, file: ComposeFile) -> None:
    """Refuse services that wait for no service, or for themselves in the end."""
    after = {service.name: tuple(service.after) for service in file.services}
    unchecked = {service.name for service in file.services if service.check == ["NONE"]}
    for name in after:
        for other in _before(name, after):
            at = place.at(f"services.{name}.depends_on")
            if other in file.left_out:
                raise at.error(f"the service {other!r} has a profile and is left out")
            if other not in after:
                raise at.error(f"there is no service {other!r}")
            if other == name:
                raise at.error("the service would wait for itself")
    for service in file.services:
        for other, is_healthy in service.after.items():
            if is_healthy and other in unchecked:
                at = place.at(f"services.{service.name}.depends_on")
                needs = "service_healthy needs a health check"
                raise at.error(f"{needs}, and {other} has disabled its own")


def _before(name: str, after: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield every service that starts before a service, each once."""
    seen: set[str] = set()
    waiting = list(after[name])
    while waiting:
        other = waiting.pop()
        if other not in seen:
            seen.add(other)
            yield other
            waiting += after.get(other, ())
