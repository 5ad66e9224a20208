"""Volumes of a service of a Compose file, in the short and in the long form."""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.limits import absolute_path
from kraftproof.cluster.systems.compose.service import Volume
from kraftproof.cluster.systems.compose.values import mapping, text, texts, truth

_MODES: Final = frozenset({"ro", "rw", "z", "Z", "cached", "consistent", "delegated", "nocopy"})
"""Modes of the short form; of these, only ro has a meaning here."""
_LONG: Final = ("type", "source", "target", "read_only", "bind", "volume", "tmpfs", "consistency")


def volumes_of(value: object, place: Place, folder: Path, names: Set[str]) -> tuple[Volume, ...]:
    """Return the volumes of a service.

    Args:
        value: What the file says.
        place: Where the file says so.
        folder: The folder of the file, which relative paths begin at.
        names: The names of the volumes that the file declares.

    Raises:
        ComposeFileError: a path is missing, a volume is not declared, or a form is unknown.
    """
    if value is None:
        return ()
    if isinstance(value, Mapping):
        raise place.error("a list is expected, not a map")
    found: list[Volume] = []
    for one in value if isinstance(value, list) else [value]:
        volume = (
            _long(one, place, folder)
            if isinstance(one, Mapping)
            else _short(text(one, place), place, folder)
        )
        if volume is None:
            continue
        _refuse(volume, place, names)
        if any(one.target == volume.target for one in found):
            raise place.error(f"{volume.target!r} is the target of two volumes")
        found.append(volume)
    return tuple(found)


def tmpfs_of(values: Mapping[str, object], places: Mapping[str, Place]) -> tuple[str, ...]:
    """Return the paths with a file system in memory."""
    value = values.get("tmpfs")
    found = [] if value is None else list(texts(value, places["tmpfs"]))
    for one in found:
        absolute_path(one, places["tmpfs"])
    volumes = values.get("volumes")
    for one in volumes if isinstance(volumes, list) else []:
        if isinstance(one, Mapping) and one.get("type") == "tmpfs":
            found.append(text(one.get("target"), places["volumes"]))
    return tuple(found)


def _short(value: str, place: Place, folder: Path) -> Volume | None:
    source, *rest = value.split(":")
    if not rest:
        return Volume(target=source)
    if len(rest) > 2:
        raise place.error(f"{value!r}: SOURCE:TARGET or SOURCE:TARGET:ro is expected")
    modes = rest[1].split(",") if len(rest) == 2 else []
    for mode in modes:
        if mode not in _MODES:
            raise place.error(f"{value!r}: the mode {mode!r} is unknown, such as ro and rw")
    is_path = source.startswith((".", "/", "~"))
    return Volume(
        target=rest[0],
        source=_path(source, folder) if is_path else source,
        is_named=not is_path,
        is_read_only="ro" in modes,
    )


def _long(value: Mapping[str, object], place: Place, folder: Path) -> Volume | None:
    found = mapping(value, place, known=_LONG)
    kind = text(found.get("type"), place.at("type"))
    if kind == "tmpfs":
        return None
    if kind not in {"bind", "volume"}:
        raise place.error(f"the type {kind} is not supported, only bind, volume and tmpfs")
    source = found.get("source")
    if kind == "bind" and source is None:
        raise place.error("a volume of the type bind has no source")
    named = None if source is None else text(source, place.at("source"))
    return Volume(
        target=text(found.get("target"), place.at("target")),
        source=_path(named, folder) if kind == "bind" and named is not None else named,
        is_named=kind == "volume" and named is not None,
        is_read_only=truth(found.get("read_only", False), place.at("read_only")),
    )


def _path(source: str, folder: Path) -> str:
    return str((folder / Path(source).expanduser()).resolve())


def _refuse(volume: Volume, place: Place, names: Set[str]) -> None:
    if not volume.target.startswith("/"):
        raise place.error(f"{volume.target!r}: an absolute path in the container is expected")
    if volume.is_named and volume.source not in names:
        raise place.error(f"the volume {volume.source!r} is not declared under volumes")
    if volume.source is not None and not volume.is_named and not Path(volume.source).exists():
        raise place.error(f"{volume.source}: there is no such file or folder")
