"""What a graph's .properties file says."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.suites.graphalytics.options import ALGORITHMS, Options


@dataclass(frozen=True)
class Setting:
    """A graph's files, kind, and parameters of algorithms.

    Attributes
    ----------
    path, vertices, edges
        Paths of the .properties file, which need not exist, and of the graph's.
    directed
        None where it is not known.
    weight
        Which of the edges' properties is the weight, from 0.
    algorithms
        That the benchmark runs on the graph; empty where it is not known.
    given
        Values of ``ALGORITHM.KEY``, such as "bfs.source-vertex".
    """

    path: str
    vertices: str
    edges: str
    directed: bool | None
    weight: int
    algorithms: tuple[str, ...]
    given: dict[str, str]


def read(options: Options) -> Setting:
    """The setting of a graph, from its .properties file if there is one, with the options in its place.

    Raises
    ------
    InputError
        The file cannot be read, or a value is not what it should be; the message names the key.
    """
    stem = os.path.join(os.path.abspath(options.folder), options.graph)
    path = f"{stem}.properties"
    found = _properties(path, f"graph.{options.graph}.") if os.path.exists(path) else {}
    directed = found.get("directed")
    if directed not in ("true", "false", None):
        raise InputError(f"{path}: directed = {directed!r}: must be true or false")
    names = _listed(found.get("edge-properties.names", ""))
    weight = found.get("sssp.weight-property")
    if weight is not None and weight not in names:
        raise InputError(
            f"{path}: sssp.weight-property = {weight!r}: must be one of edge-properties.names"
        )
    folder = os.path.dirname(stem)
    setting = Setting(
        path=path,
        vertices=os.path.join(folder, found.get("vertex-file", f"{options.graph}.v")),
        edges=os.path.join(folder, found.get("edge-file", f"{options.graph}.e")),
        directed=None if directed is None else directed == "true",
        weight=0 if weight is None else names.index(weight),
        algorithms=tuple(name.lower() for name in _listed(found.get("algorithms", ""))),
        given=found,
    )
    return setting if options.directed is None else replace(setting, directed=options.directed)


def parameters(name: str, setting: Setting, options: Options, first: int) -> dict[str, Any]:
    """Parameters of an algorithm's kernel: the options', else the file's, else those of the benchmark's
    example graphs.

    Parameters
    ----------
    first
        The first vertex.

    Raises
    ------
    InputError
        A value in the file is not a number; the message names the key.
    """
    defaults = {
        "source-vertex": (int, options.source, first),
        "max-iterations": (int, options.iterations, 2),
        "num-iterations": (int, options.iterations, 2),
        "damping-factor": (float, options.damping, 0.85),
    }
    found = {}
    for parameter, key in ALGORITHMS[name].parameters.items():
        kind, option, default = defaults[key]
        text = setting.given.get(f"{name}.{key}")
        if option is not None or text is None:
            found[parameter] = default if option is None else option
            continue
        try:
            found[parameter] = kind(text)
        except ValueError:
            raise InputError(
                f"{setting.path}: {name}.{key} = {text!r}: must be {_NUMBERS[kind]}"
            ) from None
    return found


_NUMBERS = {int: "an integer", float: "a number"}


def _properties(path: str, prefix: str) -> dict[str, str]:
    """Keys, without a prefix that they may have, and values of a file in Java's format."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line[0] in "#!":
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise InputError(f"{path}, line {number}: {line!r} is not KEY = VALUE")
        found[key.strip().removeprefix(prefix)] = value.strip()
    return found


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
