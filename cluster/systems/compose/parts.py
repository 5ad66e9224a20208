"""The parts of a service of a Compose file, from plain lists, maps and scalars."""

import re
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.mounts import tmpfs_of, volumes_of
from kraftproof.cluster.systems.compose.service import CONDITIONS, Build, Service
from kraftproof.cluster.systems.compose.values import (
    duration_ns,
    mapping,
    nano_cpus,
    number,
    text,
    texts,
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
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_PORT: Final = re.compile(r"(?:(?:.*:)?\d*:)?(\d+)(?:/(tcp|udp))?")
_READ: Final = frozenset(
    {
        *("image", "build", "command", "entrypoint", "environment", "env_file", "ports", "expose"),
        *("volumes", "tmpfs", "healthcheck", "depends_on", "networks", "scale", "deploy"),
        *("container_name", "hostname"),
    }
)
_PLAIN: Final[Mapping[str, tuple[str, Callable[[object, Place], Any]]]] = {
    "user": ("user", text),
    "working_dir": ("working_dir", text),
    "stop_signal": ("stop_signal", text),
    "mem_limit": ("mem_limit", text),
    "shm_size": ("shm_size", text),
    "cap_add": ("cap_add", lambda value, place: list(texts(value, place))),
    "cap_drop": ("cap_drop", lambda value, place: list(texts(value, place))),
    "init": ("init", lambda value, place: text(value, place) == "true"),
    "privileged": ("privileged", lambda value, place: text(value, place) == "true"),
    "cpus": ("nano_cpus", nano_cpus),
}
"""By setting: the keyword argument of the Docker SDK, and how the value is read."""


def service_of(
    name: str, values: Values, places: Places, folder: Path, volumes: Set[str]
) -> Service:
    """Return a service.

    Args:
        name: Its name.
        values: Its settings.
        places: The place of each setting, for errors.
        folder: The folder of the Compose file.
        volumes: The names of the file's volumes.

    Raises:
        ComposeFileError: a setting has a mistake or is not supported; one line.
    """
    for key in values:
        if key not in _READ | LEFT_OUT | _PLAIN.keys() and not key.startswith("x-"):
            raise places[key].error("is not supported")
    if _NAME.fullmatch(name) is None:
        raise places["image"].error(
            f"service {name!r}: a name of lower-case letters, digits, - and _ is expected"
        )
    build = _build(values.get("build"), places["build"], folder)
    image = None if "image" not in values else text(values["image"], places["image"])
    if image is None and build is None:
        raise places["image"].error("is missing, and so is build")
    count, limits = _deploy(values, places)
    ports, has_udp = _ports(values, places)
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
        aliases=_aliases(values, places),
        settings={**_settings(values, places), **limits},
        left_out=tuple(left_out),
    )


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
    context = (folder / text(found.get("context", "."), place.at("context"))).resolve()
    if not context.is_dir():
        raise place.error(f"{context}: there is no such folder")
    target = found.get("target")
    return Build(
        context=str(context),
        dockerfile=text(found.get("dockerfile", "Dockerfile"), place.at("dockerfile")),
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
        found |= {key: value or "" for key, value in dotenv_values(path).items()}
    return found | pairs(values.get("environment"), places["environment"])


def _ports(values: Values, places: Places) -> tuple[tuple[int, ...], bool]:
    """Return the TCP ports of the container, and whether it has others."""
    found: dict[int, None] = {}
    has_udp = False
    for key in ("ports", "expose"):
        value = values.get(key)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            port, protocol = _port(one, places[key])
            has_udp |= protocol == "udp"
            if protocol == "tcp":
                found[port] = None
    if not found:
        raise places["ports"].error(
            "is missing, and so is expose: a node needs a port for clients and for faults of links"
        )
    return tuple(found), has_udp


def _port(value: object, place: Place) -> tuple[int, str]:
    if isinstance(value, Mapping):
        target = number(value.get("target"), place)
        return target, text(value.get("protocol", "tcp"), place)
    match = _PORT.fullmatch(text(value, place))
    if match is None:
        raise place.error(
            f"{value!r}: a port such as 8080:80 is expected; ranges are not supported"
        )
    return int(match[1]), match[2] or "tcp"


def _after(value: object, place: Place) -> dict[str, bool]:
    """Return the services that start before, and whether each must be healthy."""
    if value is None:
        return {}
    if isinstance(value, list):
        return dict.fromkeys(texts(value, place), False)
    found: dict[str, bool] = {}
    for name, settings in mapping(value, place).items():
        condition = text(mapping(settings, place).get("condition", "service_started"), place)
        if condition not in CONDITIONS:
            known = " and ".join(CONDITIONS)
            raise place.at(name).error(f"the condition {condition} is not supported, only {known}")
        found[name] = CONDITIONS[condition]
    return found


def _aliases(values: Values, places: Places) -> tuple[str, ...]:
    """Return further names: of the container, of the host, and in the networks."""
    found = [text(values[k], places[k]) for k in ("hostname", "container_name") if k in values]
    networks, place = values.get("networks"), places["networks"]
    if isinstance(networks, Mapping):
        for name, settings in mapping(networks, place).items():
            for key, value in mapping(settings or {}, place.at(name)).items():
                if key != "aliases":
                    raise place.at(f"{name}.{key}").error("is not supported, only aliases")
                found += texts(value, place)
    return tuple(dict.fromkeys(found))


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
            found["mem_limit"] = text(limit, place)
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
        found["healthcheck"] = _health_check(check, places["healthcheck"])
    return found


def _health_check(value: object, place: Place) -> dict[str, Any]:
    """Return a health check as the Docker SDK takes it, with durations in nanoseconds."""
    found: dict[str, Any] = {}
    for key, one in mapping(value, place).items():
        match key:
            case "disable":
                if text(one, place) == "true":
                    return {"test": ["NONE"]}
            case "test":
                is_list = isinstance(one, list)
                found["test"] = (
                    list(texts(one, place)) if is_list else ["CMD-SHELL", text(one, place)]
                )
            case "interval" | "timeout" | "start_period":
                found[key] = duration_ns(one, place.at(key))
            case "retries":
                found[key] = number(one, place.at(key))
            case _:
                raise place.at(key).error("is not supported")
    return found
