"""The parts of a service of a Compose file, from plain lists, maps and scalars."""

import re
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.health import health_check
from kraftproof.cluster.systems.compose.limits import (
    absolute_path,
    memory,
    nano_cpus,
    privileges,
    size,
    stop_signal,
)
from kraftproof.cluster.systems.compose.mounts import tmpfs_of, volumes_of
from kraftproof.cluster.systems.compose.names import SERVICE, aliases_of
from kraftproof.cluster.systems.compose.ports import ports_of
from kraftproof.cluster.systems.compose.service import CONDITIONS, Build, Service
from kraftproof.cluster.systems.compose.values import (
    mapping,
    number,
    text,
    texts,
    truth,
    words,
)

Values = Mapping[str, object]
Places = Mapping[str, Place]

LEFT_OUT: Final = frozenset(
    {
        *("restart", "labels", "logging", "stop_grace_period", "stdin_open", "tty"),
        *("pull_policy", "annotations", "attach"),
    }
)
"""Settings without a meaning for a node under test: the nemesis starts and stops the nodes."""
_IMAGE: Final = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,})?"
)
"""The name of an image, with the registry, the tag and the digest if there are any."""
_READ: Final = frozenset(
    {
        *("image", "build", "command", "entrypoint", "environment", "env_file", "ports", "expose"),
        *("volumes", "tmpfs", "healthcheck", "depends_on", "networks", "scale", "deploy"),
        *("container_name", "hostname", "profiles"),
    }
)
_PLAIN: Final[Mapping[str, tuple[str, Callable[[object, Place], Any]]]] = {
    "user": ("user", text),
    "working_dir": ("working_dir", absolute_path),
    "stop_signal": ("stop_signal", stop_signal),
    "mem_limit": ("mem_limit", memory),
    "shm_size": ("shm_size", size),
    "cap_add": ("cap_add", privileges),
    "cap_drop": ("cap_drop", privileges),
    "init": ("init", truth),
    "privileged": ("privileged", truth),
    "cpus": ("nano_cpus", nano_cpus),
}
"""By setting: the keyword argument of the Docker SDK, and how the value is read."""


def service_of(
    name: str, values: Values, places: Places, folder: Path, volumes: Set[str], networks: Set[str]
) -> Service:
    """Return a service.

    Args:
        name: Its name.
        values: Its settings.
        places: The place of each setting, for errors.
        folder: The folder of the Compose file.
        volumes: The names of the file's volumes.
        networks: The names of the file's networks.

    Raises:
        ComposeFileError: a setting has a mistake or is not supported; one line.
    """
    for key in values:
        if key not in _READ | LEFT_OUT | _PLAIN.keys() and not key.startswith("x-"):
            raise places[key].error("is not supported")
    if SERVICE.fullmatch(name) is None:
        raise places["image"].error(
            f"service {name!r}: a name of lower-case letters, digits, - and _ is expected, at "
            "most 63 of them"
        )
    build = _build(values.get("build"), places["build"], folder)
    image = None if "image" not in values else _image(values["image"], places["image"])
    if image is None and build is None:
        raise places["image"].error("is missing, and so is build")
    count, limits = _deploy(values, places)
    ports, has_udp = ports_of(values, places)
    left_out = sorted(LEFT_OUT & values.keys()) + ["udp ports"] * has_udp
    return Service(
        name=name,
        count=count,
        image=None if build is not None else image,
        build=build,
        command=_words(values, places, "command"),
        entrypoint=_words(values, places, "entrypoint"),
        environment=_environment(values, places, folder),
        ports=ports,
        volumes=volumes_of(values.get("volumes"), places["volumes"], folder, volumes),
        tmpfs=tmpfs_of(values, places),
        after=_after(values.get("depends_on"), places["depends_on"]),
        aliases=aliases_of(values, places, networks),
        settings={**_settings(values, places), **limits},
        left_out=tuple(left_out),
    )


def _image(value: object, place: Place) -> str:
    found = text(value, place)
    if _IMAGE.fullmatch(found) is None:
        raise place.error(f"{found!r}: the name of an image such as redis:8 is expected")
    return found


def _words(values: Values, places: Places, key: str) -> list[str] | None:
    value = values.get(key)
    return None if value is None else words(value, places[key])


def _build(value: object, place: Place, folder: Path) -> Build | None:
    if value is None:
        return None
    found = {"context": value} if isinstance(value, str) else mapping(value, place)
    for key in found:
        if key not in {"context", "dockerfile", "args", "target"}:
            raise place.at(key).error("is not supported")
    given = text(found.get("context", "."), place.at("context"))
    if "://" in given:
        raise place.error(f"{given}: is not supported: the context is a folder of this machine")
    context = (folder / given).resolve()
    if not context.is_dir():
        raise place.error(f"{context}: there is no such folder")
    target = found.get("target")
    dockerfile = text(found.get("dockerfile", "Dockerfile"), place.at("dockerfile"))
    if not (context / dockerfile).is_file():
        raise place.at("dockerfile").error(f"{context / dockerfile}: there is no such file")
    return Build(
        context=str(context),
        dockerfile=dockerfile,
        arguments=pairs(found.get("args"), place.at("args")),
        target=None if target is None else text(target, place.at("target")),
    )


def pairs(value: object, place: Place) -> dict[str, str]:
    """Return variables of a map, or of a list of NAME=VALUE.

    Raises:
        ComposeFileError: a variable has no value, which would be that of the user's shell.
    """
    if value is None:
        return {}
    if isinstance(value, list):
        split = (text(one, place).partition("=") for one in value)
        found: Mapping[str, object] = {k: v if equals else None for k, equals, v in split}
    else:
        found = mapping(value, place)
    for name, one in found.items():
        if not name:
            raise place.error("a variable has no name: NAME=VALUE is expected")
        if one is None:
            raise place.error(f"{name} has no value: write {name}=${{{name}}} for the shell's")
    return {name: text(one, place.at(name)) for name, one in found.items()}


def _environment(values: Values, places: Places, folder: Path) -> dict[str, str]:
    """Return the variables of the env files, in their order, then those of the service."""
    from dotenv import dotenv_values

    found: dict[str, str] = {}
    files = values.get("env_file")
    for name in () if files is None else texts(files, places["env_file"]):
        path = folder / name
        if not path.is_file():
            raise places["env_file"].error(f"{path}: there is no such file")
        try:
            found |= {key: value or "" for key, value in dotenv_values(path).items()}
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no UTF-8"
            raise places["env_file"].error(f"{path}: can't be read: {reason}") from error
    return found | pairs(values.get("environment"), places["environment"])


def _after(value: object, place: Place) -> dict[str, bool]:
    """Return the services that start before, and whether each must be healthy."""
    if value is None:
        return {}
    if isinstance(value, list):
        return dict.fromkeys(texts(value, place), False)
    if not isinstance(value, Mapping):
        raise place.error(f"{value!r}: a list or a map of services is expected")
    found: dict[str, bool] = {}
    for name, settings in mapping(value, place).items():
        one = mapping(settings, place.at(name), known=("condition", "restart", "required"))
        condition = text(one.get("condition", "service_started"), place.at(name))
        if condition not in CONDITIONS:
            known = " and ".join(CONDITIONS)
            raise place.at(name).error(f"the condition {condition} is not supported, only {known}")
        found[name] = CONDITIONS[condition]
    return found


def _deploy(values: Values, places: Places) -> tuple[int, dict[str, Any]]:
    """Return the number of nodes and the limits of each."""
    count, limits = values.get("scale", 1), {}
    place = places["deploy"]
    for key, value in mapping(values.get("deploy") or {}, place).items():
        match key:
            case "replicas":
                count = value
            case "resources":
                limits = _limits(mapping(value, place).get("limits") or {}, place)
            case "restart_policy" | "labels" | "update_config" | "mode" | "placement":
                continue
            case _:
                raise place.at(key).error("is not supported")
    found = number(count, places["scale"])
    if found < 1:
        raise places["scale"].error(f"{found}: a service has at least one node")
    return found, limits


def _limits(value: object, place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, limit in mapping(value, place).items():
        if key == "cpus":
            found["nano_cpus"] = nano_cpus(limit, place)
        elif key == "memory":
            found["mem_limit"] = memory(limit, place)
        else:
            raise place.at(f"resources.limits.{key}").error("is not supported")
    return found


def _settings(values: Values, places: Places) -> dict[str, Any]:
    found = {
        argument: read(values[key], places[key])
        for key, (argument, read) in _PLAIN.items()
        if key in values
    }
    check = values.get("healthcheck")
    if check is not None:
        found["healthcheck"] = health_check(check, places["healthcheck"])
    return found
