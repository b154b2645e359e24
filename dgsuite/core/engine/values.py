"""Values in files: what a kernel's state is made of, as arrays and a text of JSON.

Nothing is pickled. Numbers, text, lists, tuples, dicts, fractions and arrays are themselves; any other object
is the name of its class and the values of its attributes. Reading it runs no code of the class, and the class
must be known: see `Classes`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp import Kernel, Reduction
from dgsuite.partition.arrays.reductions import REDUCTIONS
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.store.checking import FOREIGN

TREE = "tree"
"""Key of the text of JSON among the arrays."""

OWN = ("indptr", "indices", "weights", "directions", "weights_in", "degree", "remote_degree")
"""Arrays of a cluster that a state may refer to; they are not written."""


OURS = ("dgsuite.kernels.", "dgsuite.partition.")
"""Modules whose classes may be in any file have names that begin so."""


class Classes:
    """The classes of which objects may be in a file.

    They are those of dgsuite's kernels and graphs, of the kernel's modules, and of what is given.

    Parameters
    ----------
    kernel
        Of the run, if its objects may be there.
    given
        Objects, such as the kernel's first states.
    """

    def __init__(self, kernel: Kernel | None = None, given: Sequence[Any] = ()) -> None:
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


def _place(array: NDArray) -> tuple[Any, ...]:
    """What two names of one array have in common."""
    return array.ctypes.data, array.shape, array.strides, array.dtype.str


class Writer:
    """Takes a value apart.

    Parameters
    ----------
    classes
        Those of the objects.
    cluster
        The one whose arrays the value may refer to, if any.
    """

    def __init__(self, classes: Classes, cluster: Cluster | None = None) -> None:
        self.classes = classes
        self.arrays: dict[str, NDArray] = {}
        self._own: dict[Any, str] = {}
        self._arrays: dict[Any, int] = {}
        self._objects: dict[int, int] = {}
        self._alive: list[Any] = []  # an address names one object as long as that lives
        for name in () if cluster is None else OWN:
            array = getattr(cluster, name)
            if array is not None and array.size:
                self._own[_place(array)] = name
                self._alive.append(array)

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
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, np.generic):
            return {"number": self._add(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if type(value) is tuple:
            return {"tuple": self._each(value, where)}
        if type(value) is Fraction:
            return {"fraction": [value.numerator, value.denominator]}
        if isinstance(value, Reduction):
            if REDUCTIONS.get(value.name) is not value:
                raise InputError(f"{where} is a reduction of its own, {value.name!r}")
            return {"reduction": value.name}
        if id(value) in self._objects:
            return {"same": self._objects[id(value)]}
        self._objects[id(value)] = len(self._objects)
        self._alive.append(value)
        if type(value) is list:
            return {"list": self._each(value, where)}
        if type(value) is dict:
            return {
                "dict": [
                    [self._of(k, where), self._of(v, f"{where}[{k!r}]")] for k, v in value.items()
                ]
            }
        return self._object(value, where)

    def _each(self, values: Sequence[Any], where: str) -> list[Any]:
        return [self._of(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _array(self, array: NDArray, where: str) -> Any:
        place = _place(array)
        if array.size and place in self._own:
            return {"own": self._own[place]}
        if array.size and place in self._arrays:
            return {"array": self._arrays[place]}
        number = self._add(array, where)
        if array.size:
            self._arrays[place] = number
        return {"array": number}

    def _add(self, array: NDArray, where: str) -> int:
        if array.dtype.hasobject:
            raise InputError(f"{where} is an array of objects")
        self.arrays[f"a{len(self.arrays)}"] = array
        return len(self.arrays) - 1

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        name = self.classes.name(kind)
        if self.classes.find(name) is not kind:
            raise InputError(f"{where} is of type {kind.__name__}, of module {kind.__module__}")
        if isinstance(value, tuple):
            return {"class": name, "items": self._each(value, where)}
        held = {key: self._of(v, f"{where}.{key}") for key, v in attributes(value).items()}
        return {"class": name, "attributes": held}


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots included."""
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


class Reader:
    """Puts a value together that a `Writer` took apart; its parameters are the same."""

    def __init__(self, classes: Classes, cluster: Cluster | None = None) -> None:
        self.cluster = cluster
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
            case {"array": number}:
                return self._arrays[f"a{number}"]
            case {"number": number}:
                return self._arrays[f"a{number}"][()]
            case {"own": name}:
                return getattr(self.cluster, OWN[OWN.index(name)])
            case {"tuple": items}:
                return tuple(self._of(item) for item in items)
            case {"fraction": (top, bottom)}:
                return Fraction(top, bottom)
            case {"reduction": name}:
                return REDUCTIONS[name]
            case {"same": number}:
                return self._objects[number]
            case {"list": items}:
                found: Any = self._begin([])
                found += [self._of(item) for item in items]
                return found
            case {"dict": items}:
                found = self._begin({})
                found.update((self._of(key), self._of(value)) for key, value in items)
                return found
            case {"class": name, "items": items}:
                number, kind = len(self._objects), self._class(name)
                self._begin(None)
                fields: Any = getattr(kind, "_fields", items)
                if len(items) != len(fields):
                    raise ValueError(f"{name!r} has {len(fields)} fields, not {len(items)}")
                self._objects[number] = tuple.__new__(kind, [self._of(i) for i in items])
                return self._objects[number]
            case {"class": name, "attributes": held}:
                found = self._begin(object.__new__(self._class(name)))
                for key, value in held.items():
                    if key.startswith("__"):
                        raise ValueError(f"an object has no attribute {key!r} in files")
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
