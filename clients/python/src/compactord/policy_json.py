"""Policies as dicts: the JSON of the contract, with a list where its message is nothing else, and words for enums."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

_WHOLE = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32}
_REAL = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}


def contract_json(given: object, message: Descriptor, where: str = "policy") -> dict[str, Any]:
    """Return fields in the JSON of the contract.

    Args:
        given: The fields.
        message: The message that they belong to.
        where: What errors call it.

    Raises:
        ValueError: This is not a dict, a name is that of no field, or a value is not of its type. The text names the
            field, and not the value where it could be content.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}: must be {_wanted(message, where)}, not a {type(given).__name__}")
    fields = {**message.fields_by_name, **message.fields_by_camelcase_name}
    made: dict[str, Any] = {}
    for name, value in cast("Mapping[object, Any]", given).items():
        if not isinstance(name, str) or name not in fields:
            raise ValueError(f"{where}: {_no_field(name, message)}")
        made[name] = _field(value, fields[name], f"{where}.{name}")
    return made


def _wanted(message: Descriptor, where: str) -> str:
    return "a v1.Policy or a mapping of its fields" if where == "policy" else f"a mapping of fields of {message.name}"


def _no_field(name: object, message: Descriptor) -> str:
    """Say that there is no such field, and which one is meant, in the case in which the caller writes names."""
    if not isinstance(name, str):
        return f"a name must be a str, not a {type(name).__name__}"
    as_snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
    known = [*message.fields_by_name]
    camel = "_" not in name and as_snake != name
    spelt = {field.name: field.camelcase_name if camel else field.name for field in message.fields}
    near = difflib.get_close_matches(as_snake, known, n=1)
    told = f"did you mean {spelt[near[0]]!r}?" if near else f"there are {', '.join(spelt[one] for one in known)}"
    return f"there is no field {name!r}: {told}"


def _field(value: Any, field: FieldDescriptor, where: str) -> Any:
    if field.is_repeated:
        if not isinstance(value, list | tuple):
            return value
        return [_one(one, field, f"{where}[{at}]") for at, one in enumerate(cast("Iterable[Any]", value))]
    if field.message_type is not None and isinstance(value, list | tuple):
        inner = field.message_type.fields
        if len(inner) == 1 and inner[0].is_repeated:
            return {inner[0].name: _field(value, inner[0], where)}
    return _one(value, field, where)


def _one(value: Any, field: FieldDescriptor, where: str) -> Any:
    if value is None:
        return None
    if field.message_type is not None:
        own = field.message_type.file.package != "google.protobuf"
        return contract_json(cast("object", value), field.message_type, where) if own else value
    if field.enum_type is not None:
        return _enum(value, field.enum_type, where)
    wrong = _wrong_scalar(value, field)
    if wrong:
        raise ValueError(f"{where}: must be {wrong}")
    return value


def _enum(value: Any, enum: EnumDescriptor, where: str) -> Any:
    values = enum.values
    prefix = values[0].name.removesuffix("UNSPECIFIED")
    names = {one.name for one in values}
    if not isinstance(value, str):
        return value
    for name in (value, prefix + value.upper()):
        if name in names:
            return name
    known = ", ".join(one.name.removeprefix(prefix).lower() for one in values[1:])
    raise ValueError(f"{where}: {value!r} is unknown: use one of {known}")


def _wrong_scalar(value: object, field: FieldDescriptor) -> str:
    """Say what a value must be; empty where it is that, or where the contract's parser is to decide."""
    kind = f", not a {type(value).__name__}"
    if field.cpp_type in _WHOLE:
        return _wrong_whole(value, kind)
    if field.cpp_type in _REAL:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if number or isinstance(value, str) else f"a number{kind}"
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return "" if isinstance(value, bool) else f"True or False{kind}"
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING and field.type == FieldDescriptor.TYPE_STRING:
        return "" if isinstance(value, str) else f"a str{kind}"
    return ""


def _wrong_whole(value: object, kind: str) -> str:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"a whole number{kind}"
    if isinstance(value, float) and not value.is_integer():
        return "a whole number"
    return "" if 0 <= value <= 2**32 - 1 else f"from 0 to {2**32 - 1}, and is {value}"
