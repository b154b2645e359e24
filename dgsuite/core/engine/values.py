"""Values in files: what a kernel's state is made of, as arrays and a text of JSON.

Nothing is pickled. Numbers, text, lists, tuples, dicts and arrays are themselves; a set of nodes is its mask;
any other object is the name of its class and the values of its attributes. Reading it runs no code of the
class, and the class must be known: see `Classes`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.arrays.reductions import REDUCTIONS, Reduction
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.store.checking import FOREIGN, refuse

TREE = "tree"
"""Key of the text of JSON among the arrays."""

OURS = ("dgsuite.kernels.", "dgsuite.partition.")
"""Modules whose classes may be in any file have names that begin so."""


class Classes:
    """The classes of which objects may be in a file.

    They are those of dgsuite's kernels and graphs, of the kernel's modules, and of what is given.

    Parameters
    ----------
    kernel
        Of the run.
    given
        Objects, such as the kernel's first states.
    """

    def __init__(self, kernel: Kernel, given: Sequence[Any] = ()) -> None:
        self._modules = {base.__module__ for base in type(kernel).__mro__} - {"builtins"}
        self._given = {self.name(type(value)): type(value) for value in given}

    @staticmethod
    def name(kind: type) -> str:
        """The name of a class in files."""
        return f"{kind.__module__}:{kind.__qualname__}"

    def find(self, name: str) -> type | None:
        """The class of a name, if there is one."""
        if name in self._given:
            return self._given[name]
        module, _, path = name.partition(":")
        if not module.startswith(OURS) and module not in self._modules:
            return None
        found: Any = sys.modules.get(module)
        for part in path.split("."):
            found = getattr(found, part, None)
        return found if isinstance(found, type) and found.__module__ == module else None


class Writer:
    """Takes values apart, whose objects are of some classes."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.arrays: dict[str, NDArray] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an address names one object as long as that lives

    def write(self, value: Any) -> dict[str, NDArray]:
        """A value as arrays.

        Raises
        ------
        InputError
            It holds something that a file cannot hold.
        """
        text = json.dumps(self._of(value, "it")).encode()
        return {**self.arrays, TREE: np.frombuffer(text, np.uint8)}

    def _of(self, value: Any, where: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if isinstance(value, np.generic):
            return {"number": self._add(np.asarray(value), where)}
        if isinstance(value, tuple):
            items = [self._of(item, f"{where}[{i}]") for i, item in enumerate(value)]
            if kind is tuple:
                return {"tuple": items}
            return {"class": self._name(kind, where), "items": items}
        if isinstance(value, Reduction) and REDUCTIONS.get(value.name) is value:
            return {"reduction": value.name}
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        if isinstance(value, np.ndarray):
            return {"array": self._add(value, where)}
        if kind is Subset and not value.start:
            return {"nodes": self._add(value.mask, where)}
        if kind is list:
            return {"list": [self._of(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if kind is dict:
            items = [(self._of(k, where), self._of(v, f"{where}[{k!r}]")) for k, v in value.items()]
            return {"dict": items}
        name, held = self._name(kind, where), {}
        for key, inner in vars(value).items():
            held[key] = self._of(inner, f"{where}.{key}")
        return {"class": name, "attributes": held}

    def _add(self, array: NDArray, where: str) -> int:
        if array.dtype.hasobject:
            raise InputError(f"{where} is an array of objects")
        self.arrays[f"a{len(self.arrays)}"] = array
        return len(self.arrays) - 1

    def _name(self, kind: type, where: str) -> str:
        name = self.classes.name(kind)
        if self.classes.find(name) is not kind or (
            not kind.__dictoffset__ and not issubclass(kind, tuple)
        ):
            raise InputError(f"{where} is of type {kind.__name__}, of module {kind.__module__}")
        return name


class Reader:
    """Puts values together that a `Writer` took apart."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._arrays: Mapping[str, NDArray] = {}
        self._objects: list[Any] = []

    def read(self, arrays: Mapping[str, NDArray]) -> Any:
        """The value.

        Raises
        ------
        InputError
            The arrays are not those of a value.
        """
        self._arrays = arrays
        try:
            return self._of(json.loads(arrays[TREE].tobytes()))
        except FOREIGN as error:
            raise InputError(f"is not the file of a checkpoint: {error}") from None

    def _of(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        match tree:
            case {"number": number}:
                return self._arrays[f"a{number}"][()]
            case {"tuple": items}:
                return tuple(map(self._of, items))
            case {"class": name, "items": items}:
                kind = self._class(name)
                fields: Any = kind._fields  # type: ignore[attr-defined]
                refuse(len(items) != len(fields), f"{name!r} has {len(fields)} fields")
                return tuple.__new__(kind, map(self._of, items))
            case {"reduction": name}:
                return REDUCTIONS[name]
            case {"same": number}:
                return self._objects[number]
            case {"array": number}:
                return self._begin(self._arrays[f"a{number}"])
            case {"nodes": number}:
                mask = self._arrays[f"a{number}"]
                refuse(mask.dtype != bool or mask.ndim != 1, "a set of nodes must be a mask")
                return self._begin(Subset(mask))
            case {"list": items}:
                found: Any = self._begin([])
                found += map(self._of, items)
                return found
            case {"dict": items}:
                found = self._begin({})
                found.update((self._of(key), self._of(value)) for key, value in items)
                return found
            case {"class": name, "attributes": held}:
                found = self._begin(object.__new__(self._class(name)))
                for key, value in held.items():
                    refuse(key.startswith("__"), f"an object has no attribute {key!r} in files")
                    object.__setattr__(found, key, self._of(value))
                return found
        raise ValueError(f"{[*tree]} is no kind of value")

    def _begin(self, thing: Any) -> Any:
        """Number an object as the writer did, before what it holds."""
        self._objects.append(thing)
        return thing

    def _class(self, name: str) -> type:
        found = self.classes.find(name)
        if found is None:
            raise ValueError(f"{name!r} is not a class of the kernel")
        return found
