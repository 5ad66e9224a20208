"""Settings that a service of a Compose file takes from another service of the file (`extends`).

Maps are merged key by key, and lists are joined. A volume with the same target, and every other
setting of the service itself, replaces that of the other service.
"""

from collections.abc import Callable, Mapping
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.values import mapping, text

Values = Mapping[str, object]
Read = Callable[[str], Values]
"""Returns the settings of a service of the file by name, with variables replaced."""
KEY: Final = "extends"
JOINED: Final = frozenset(
    {"cap_add", "cap_drop", "configs", "env_file", "expose", "ports", "secrets", "tmpfs"}
)
"""Settings with lists that are joined."""
OWN: Final = frozenset({"container_name", "profiles"})
"""Settings that stay with their service."""


def extended(name: str, read: Read, place: Place, above: tuple[str, ...] = ()) -> Values:
    """Return the settings of a service, with those of the services that it extends.

    Raises:
        ComposeFileError: a service extends itself, or a service that is in another file or nowhere.
    """
    values = read(name)
    if KEY not in values:
        return values
    here = place.at(KEY)
    base = _base(values[KEY], here)
    if base in (*above, name):
        raise here.error(f"{' extends '.join((*above, name, base))}: that is a circle")
    other = extended(base, read, here, (*above, name))
    inherited = {key: value for key, value in other.items() if key not in OWN}
    own = {key: value for key, value in values.items() if key != KEY}
    return inherited | {
        key: _merged(key, inherited[key], value, here) if key in inherited else value
        for key, value in own.items()
    }


def _base(value: object, place: Place) -> str:
    if not isinstance(value, Mapping):
        return text(value, place)
    found = mapping(value, place)
    for key in found:
        if key != "service":
            raise place.at(key).error("is not supported: extend a service of the same file")
    return text(found.get("service"), place.at("service"))


def _merged(key: str, base: object, own: object, place: Place) -> object:
    if key == "environment":
        return _listed(base) + _listed(own)  # the last value of a variable counts
    if isinstance(base, Mapping) and isinstance(own, Mapping):
        return {**base} | {
            name: _merged(name, base[name], value, place) if name in base else value
            for name, value in own.items()
        }
    if key in JOINED:
        return _listed(base) + _listed(own)
    if key == "volumes":
        mine = _listed(own)
        targets = {_target(one) for one in mine}
        return [one for one in _listed(base) if _target(one) not in targets] + mine
    return own


def _listed(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [key if one is None else f"{key}={one}" for key, one in value.items()]
    return list(value) if isinstance(value, list) else [value]


def _target(volume: object) -> object:
    if isinstance(volume, Mapping):
        return volume.get("target")
    source, *rest = str(volume).split(":")
    return rest[0] if rest else source
