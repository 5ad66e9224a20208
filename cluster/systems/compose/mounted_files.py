"""Secrets and configs of a Compose file: files of the machine that a node may read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.values import mapping, text

FOLDERS: Final = {"secrets": "/run/secrets", "configs": ""}
"""By key of the file and of a service: the folder of a target that is no absolute path."""
Files = Mapping[str, Mapping[str, str]]
"""By key and name: the path of the file."""


def files_of(key: str, value: object, place: Place) -> Mapping[str, str]:
    """Return the paths of the files that the top level declares under a key, by name.

    Raises:
        ComposeFileError: an entry names no file of this machine.
    """
    found: dict[str, str] = {}
    for name, entry in ({} if value is None else mapping(value, place)).items():
        settings = mapping({} if entry is None else entry, place.at(name))
        for setting in settings:
            if setting not in {"file", "name", "labels"} and not setting.startswith("x-"):
                raise place.at(name).at(setting).error("is not supported, only file")
        path = text(settings["file"], place.at(name)) if "file" in settings else ""
        if not path:
            raise place.at(name).error("names no file")
        found[name] = path if path.startswith(("/", "~", ".")) else f"./{path}"
    return found


def with_files(
    values: Mapping[str, object], files: Files, place: Place, folder: Path
) -> Mapping[str, object]:
    """Return the settings of a service with its secrets and configs as volumes.

    Raises:
        ComposeFileError: a name is not declared, its file is missing, or a setting of the long form
            is not supported.
    """
    volumes = values.get("volumes", [])
    mounted = list(volumes) if isinstance(volumes, list) else [volumes]
    count = len(mounted)
    for key, above in FOLDERS.items():
        listed = values.get(key, [])
        for one in listed if isinstance(listed, list) else [listed]:
            name, target = _entry(one, place.at(key))
            if name not in files[key]:
                raise place.at(key).error(f"{name!r} is not declared under {key} of the file")
            path = folder / Path(files[key][name]).expanduser()
            if not path.exists():
                raise place.at(key).error(f"{name!r}: {path}: there is no such file")
            whole = target if target.startswith("/") else f"{above}/{target}"
            mounted.append(
                {"type": "bind", "source": files[key][name], "target": whole, "read_only": "true"}
            )
    left = {key: value for key, value in values.items() if key not in FOLDERS}
    return left if len(mounted) == count else {**left, "volumes": mounted}


def _entry(value: object, place: Place) -> tuple[str, str]:
    """Return the name and the target of a secret or a config of a service."""
    if not isinstance(value, Mapping):
        name = text(value, place)
        return name, name
    found = mapping(value, place)
    for key in found:
        if key not in {"source", "target", "mode", "uid", "gid"}:
            raise place.at(key).error("is not supported")
    name = text(found.get("source"), place.at("source"))
    return name, text(found.get("target", name), place.at("target"))
