"""Checks of arguments by their annotations, for callers without a type checker.

Without them a wrong type fails within protobuf, whose errors name no argument.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, TypeVar, cast

C = TypeVar("C")
T = TypeVar("T")

_HIGHEST = 2**32 - 1


def _is_whole(value: object) -> bool:
    try:
        operator.index(cast(Any, value))
    except TypeError:
        return False
    return not isinstance(value, bool)


def _is_texts(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    given = cast("Mapping[object, object]", value)
    return all(isinstance(part, str) for part in (*given.keys(), *given.values()))


_KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "str": ("a str", lambda value: isinstance(value, str)),
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: not isinstance(value, bool) and isinstance(value, Real)),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "Mapping[str, str]": ("a mapping of str to str", _is_texts),
    "None": ("None", lambda value: value is None),
}


def checked_arguments(of: type[C]) -> type[C]:
    """Let the public methods of a class check arguments whose annotations are texts, numbers, or mappings of texts.

    They raise a TypeError that names the argument where it has another type, and a ValueError where a whole number is
    not one of 32 bits without a sign.
    """
    for name, method in list(vars(of).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            kinds = _kinds(method)
            if kinds:
                setattr(of, name, _checking(method, kinds))
    return of


def numbers(**given: object) -> None:
    """Check that each argument is a number.

    Raises:
        TypeError: One is not. The error names it.
    """
    for name, value in given.items():
        _check(name, value, ("float",))


def listed(name: str, given: Iterable[T]) -> list[T]:
    """Return a list of what was given.

    Raises:
        TypeError: It is no list, such as a single text, whose letters would be taken one by one.
    """
    kind = type(cast(object, given))
    if issubclass(kind, str | bytes | Mapping) or not issubclass(kind, Iterable):
        raise TypeError(f"{name}: must be a list, not of the type {kind.__name__}")
    return list(given)


def _kinds(method: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of value that arguments may have, by name, of those that can be checked."""
    written = {name: str(annotation).split(" | ") for name, annotation in method.__annotations__.items()}
    return {name: tuple(kinds) for name, kinds in written.items() if name != "return" and {*kinds} <= {*_KINDS}}


def _checking(method: Callable[..., Any], kinds: Mapping[str, tuple[str, ...]]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError:
            return  # The call itself says what is missing or too much.
        for name, value in given.arguments.items():
            if name not in kinds:
                continue
            several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for one in value if several else (value,):
                _check(name, one, kinds[name])

    if inspect.iscoroutinefunction(method):

        @functools.wraps(method)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return await method(*args, **kwargs)

        return awaited

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return method(*args, **kwargs)

    return called


def _check(name: str, value: object, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        if _KINDS[kind][1](value):
            if kind == "int" and not 0 <= operator.index(cast(Any, value)) <= _HIGHEST:
                raise ValueError(f"{name}: must be from 0 to {_HIGHEST}, and is {value}")
            return
    wanted = " or ".join(_KINDS[kind][0] for kind in kinds if kind != "None")
    kind = type(value).__name__
    if isinstance(value, Mapping) and "Mapping[str, str]" in kinds:
        given = cast("Mapping[object, object]", value)
        one = next(part for pair in given.items() for part in pair if not isinstance(part, str))
        raise TypeError(f"{name}: must be {wanted}, and has {_article(type(one).__name__)} in it")
    raise TypeError(f"{name}: must be {wanted}, not of the type {kind}")


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
