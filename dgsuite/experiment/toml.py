"""Reading TOML into models: values set from outside, and errors that say what would be right."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from partition.errors import InputError, hint

M = TypeVar("M", bound=BaseModel)


def read(path: str) -> dict[str, Any]:
    """What a TOML file says.

    Raises
    ------
    InputError
        It cannot be read, or is not TOML.
    """
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # also numbers of too many digits, and deep nesting
        raise InputError(f"{path}: not TOML: {error}") from None


def checked(model: type[M], data: dict[str, Any], path: str) -> M:
    """Data in the shape of a model.

    Raises
    ------
    InputError
        With every error in one message: key, value, what would be right.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_explain(problem, model) for problem in error.errors()]
        raise InputError("\n".join(f"{path}: {p}" for p in problems)) from None


def override(data: dict[str, Any], given: str) -> None:
    """Change a value as ``key.subkey=value`` says.

    Raises
    ------
    InputError
        It does not say so, or there is no such place.
    """
    key, equals, text = given.partition("=")
    if not equals or not key:
        raise InputError(f"--set {given}: must be key.subkey=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    put(data, key, value, f"--set {given}")


def put(data: dict[str, Any], key: str, value: Any, who: str) -> None:
    """Put a value where a dotted key says; a number is a place in a list.

    Parameters
    ----------
    who
        Says so, for the error.

    Raises
    ------
    InputError
        There is no such place.
    """
    at: Any = data
    *path, last = key.split(".")
    try:
        for part in path:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value
    except (ValueError, IndexError, AttributeError, TypeError):
        hint = "; runs are numbered, as in run.0.n" if key.startswith("run.") else ""
        raise InputError(f"{who}: there is no {key!r} to set{hint}") from None


def _keys(model: Any, where: tuple[int | str, ...]) -> list[str]:
    """Keys allowed in a section of a model."""
    for part in where:
        if isinstance(part, int) or part not in model.model_fields:
            continue  # an item of a list, or of a table of tables
        annotation = model.model_fields[part].annotation
        inner = [annotation, *getattr(annotation, "__args__", ())]
        model = next(a for a in inner if isinstance(a, type) and issubclass(a, BaseModel))
    return [field.alias or name for name, field in model.model_fields.items()]


def _explain(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    where = tuple(part for part in problem["loc"])
    key = ".".join(map(str, where))
    if problem["type"] == "extra_forbidden":
        allowed = _keys(model, where[:-1])
        return f"{key}: unknown key; {hint(where[-1], allowed)}Allowed: {', '.join(allowed)}"
    if problem["type"] == "missing":
        return f"{key}: missing"
    value = problem["input"]
    message = problem["msg"][0].lower() + problem["msg"][1:]
    if problem["type"] == "literal_error":
        allowed = [
            a.strip("'") for a in problem["ctx"]["expected"].replace(" or ", ", ").split(", ")
        ]
        message += f"; {hint(value, allowed)}".rstrip("; ")
    return f"{key} = {value!r}: {message}"
