"""Build messages from kio's dataclasses: a class per message from kio's class per version.

kio (a development dependency) carries Kafka's message definitions as Python classes. Its
reader and writer are not used, and nothing of it is needed at run time.
"""

import dataclasses
import importlib
import pkgutil
import uuid
from datetime import timedelta
from types import ModuleType, NoneType, UnionType
from typing import Any, Final, get_args, get_origin

from scripts.wiregen.model import Message, Struct, Use, implicit_default

KINDS: Final = {
    "error_code": "int16",
    "timedelta_i32": "int32",
    "timedelta_i64": "int64",
    "datetime_i64": "int64",
}
TIMES: Final = frozenset({"timedelta_i32", "timedelta_i64", "datetime_i64"})
"""The kinds whose fields get the unit in their name."""
RENAMED: Final = {
    "LeaderChangeMessage": "LeaderChange",
    "SnapshotHeaderRecord": "SnapshotHeader",
    "SnapshotFooterRecord": "SnapshotFooter",
    "KRaftVersionRecord": "KRaftVersion",
    "VotersRecord": "Voters",
}
UNALIGNED: Final = "unaligned_records"
"""A slice of a snapshot may begin and end within a batch (KIP-630): bytes, no batches.

Produced records are bytes as well: a broker stores the bytes of a client unchanged.
"""


def load(api: str, part: str) -> Message:
    """The message of kio's package `api`; `part` is request, response or data."""
    package = importlib.import_module(f"kio.schema.{api}")
    versions = sorted(int(module.name[1:]) for module in pkgutil.iter_modules(package.__path__))
    structs: dict[str, Struct] = {}
    flexible: dict[int, bool] = {}
    root: Any = None
    for version in versions:
        module = importlib.import_module(f"kio.schema.{api}.v{version}.{part}")
        for cls in _classes(module):
            _add(structs, cls, version)
            if cls.__type__.name == part:
                root = cls
        flexible[version] = root.__flexible__
    name = RENAMED.get(root.__name__, root.__name__)
    ordered = [struct for struct in _in_order(structs) if struct.name != name]
    return Message(
        name=name,
        key=int(getattr(root, "__api_key__", -1)),
        is_api=part != "data",
        flexible=flexible,
        structs=[*ordered, structs[name]],
    )


def _classes(module: ModuleType) -> list[Any]:
    return [
        value
        for value in vars(module).values()
        if dataclasses.is_dataclass(value) and value.__module__ == module.__name__
    ]


def _add(structs: dict[str, Struct], cls: Any, version: int) -> None:  # noqa: ANN401 - kio's classes share no base
    name = RENAMED.get(cls.__name__, cls.__name__)
    struct = structs.setdefault(name, Struct(name=name, doc=""))
    layout = [_use(field, cls.__module__) for field in dataclasses.fields(cls)]
    struct.layouts[version] = layout
    for use, field in zip(layout, dataclasses.fields(cls), strict=True):
        struct.defaults[use.name] = _default(struct, use, field)


def _use(field: dataclasses.Field[Any], module: str) -> Use:
    kio_kind = field.metadata.get("kafka_type")
    inner: Any = field.type
    nullable = False
    if get_origin(inner) is UnionType:
        nullable = True
        inner = next(arm for arm in get_args(inner) if arm is not NoneType)
    is_array = get_origin(inner) is tuple
    if is_array:
        inner = get_args(inner)[0]
    if field.name == UNALIGNED or (kio_kind == "records" and "kio.schema.produce." in module):
        kio_kind = "bytes"
    # kio's name for `type` ends in an underscore, though a field may be called so.
    name = field.name.removesuffix("_")
    return Use(
        name=f"{name}_ms" if kio_kind in TIMES else name,
        kind=inner.__name__ if kio_kind is None else KINDS.get(kio_kind, kio_kind),
        is_array=is_array,
        # kio writes a missing uuid and a missing time as None; on the wire they are zeros and -1.
        nullable=nullable and (is_array or kio_kind not in {"uuid", "datetime_i64"}),
        tag=field.metadata.get("tag"),
    )


def _default(struct: Struct, use: Use, field: dataclasses.Field[Any]) -> str:
    value = field.default
    if value is dataclasses.MISSING:
        return implicit_default(use, nullable=struct.nullable(use.name))
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}()"
    if isinstance(value, timedelta):
        return str(value // timedelta(milliseconds=1))
    if value is None and field.metadata.get("kafka_type") == "datetime_i64":
        return "-1"
    if use.kind == "uuid" and not use.is_array and value in (None, uuid.UUID(int=0)):
        return "ZERO_UUID"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    if value is None or isinstance(value, bool | str | float) or value == ():
        return repr(value)
    if hasattr(value, "value"):
        return str(int(value.value))
    raise NotImplementedError(f"the default {value!r} of {struct.name}.{field.name}")


def _in_order(structs: dict[str, Struct]) -> list[Struct]:
    """Return the structs in order of dependence, nested structs first."""
    done: dict[str, Struct] = {}

    def visit(struct: Struct) -> None:
        if struct.name in done:
            return
        for version in sorted(struct.layouts):
            for use in struct.layouts[version]:
                if use.is_struct:
                    visit(structs[use.kind])
        done[struct.name] = struct

    for name in sorted(structs):
        visit(structs[name])
    return list(done.values())
