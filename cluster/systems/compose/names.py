"""Host names of services, and the networks in which they have further names."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.service import Service
from kraftproof.cluster.systems.compose.values import mapping, text, texts

SERVICE: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}")
_NETWORK: Final = (
    *("name", "driver", "driver_opts", "attachable", "enable_ipv4", "enable_ipv6", "ipam"),
    *("internal", "labels", "external"),
)


def networks_of(value: object, place: Place) -> frozenset[str]:
    """Return the names of the networks that a file declares; all services share one in a run.

    Raises:
        ComposeFileError: the value is no map, or a network has an unknown setting; one line.
    """
    found = {} if value is None else mapping(value, place)
    for name, settings in found.items():
        mapping({} if settings is None else settings, place.at(name), known=_NETWORK)
    return frozenset(found) | {"default"}


def aliases_of(
    values: Mapping[str, object], places: Mapping[str, Place], networks: Set[str]
) -> tuple[str, ...]:
    """Return further names of a service: of the container, of the host, and in the networks.

    Raises:
        ComposeFileError: a network is not declared, or a name can't be a host name; one line.
    """
    keys = [key for key in ("hostname", "container_name") if key in values]
    found = [_host_name(text(values[key], places[key]), places[key]) for key in keys]
    value, place = values.get("networks"), places["networks"]
    if value is not None and not isinstance(value, Mapping | list):
        raise place.error(f"{value!r}: a list or a map of networks is expected")
    named = mapping(value, place) if isinstance(value, Mapping) else texts(value or [], place)
    for name in named:
        if name not in networks:
            raise place.error(f"the network {name!r} is not declared under networks of the file")
    if isinstance(value, Mapping):
        for name, settings in mapping(value, place).items():
            for key, one in mapping(settings or {}, place.at(name)).items():
                here = place.at(f"{name}.{key}")
                if key != "aliases":
                    raise here.error("is not supported, only aliases")
                found += [_host_name(alias, here) for alias in texts(one, here)]
    return tuple(dict.fromkeys(found))


def _host_name(name: str, place: Place) -> str:
    if _HOST.fullmatch(name) is None:
        raise place.error(f"{name!r}: a host name has letters, digits, dots, - and _")
    return name


def refuse_shared_names(services: Sequence[Service], place: Place) -> None:
    """Refuse a name of two nodes, which would mean one of them at random.

    Raises:
        ComposeFileError: one line with the name and both services.
    """
    owners = {"localhost": "the machine itself"}
    for service in services:
        numbered = (f"{service.name}-{number + 1}" for number in range(service.count))
        for name in dict.fromkeys((service.name, *numbered, *service.aliases)):
            if name in owners:
                raise place.at(f"services.{service.name}").error(
                    f"the host name {name!r} is that of {owners[name]} too"
                )
            owners[name] = f"the service {service.name}"
