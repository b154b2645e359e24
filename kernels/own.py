"""Kernels of one's own: classes in a Python file, which a name such as ``mine.py:Flood`` stands for."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from functools import cache
from typing import Any

from dgsuite.base.aliases import kernel_of
from dgsuite.base.errors import InputError
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Kernel


def named(kernel: str | type[Kernel]) -> type[Kernel]:
    """The class that a name stands for: one that is listed, or ``FILE.py:Class``; a class is itself.

    Raises
    ------
    InputError
        It stands for none, or the file has no such class.
    """
    if not isinstance(kernel, str):
        return kernel
    if not is_own(kernel):
        return KERNELS[kernel_of(kernel, KERNELS)]
    path, _, name = kernel.rpartition(":")
    try:
        found = getattr(_module(os.path.abspath(path)), name, None)
    except Exception as error:
        raise InputError(f"kernel {kernel!r}: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Kernel)):
        raise InputError(
            f"kernel {kernel!r}: {path} has no class {name!r} derived from dgsuite.Kernel"
        )
    return found


def is_own(name: str) -> bool:
    """Whether a name is of the form ``FILE.py:Class``."""
    return name.rpartition(":")[0].endswith(".py")


def name_of(cls: type[Kernel]) -> str:
    """What `named` takes for a kernel: its name if it is listed, or its file and class."""
    if KERNELS.get(cls.name) is cls:
        return cls.name
    return f"{inspect.getsourcefile(cls)}:{cls.__qualname__}"


@cache
def _module(path: str) -> Any:
    """A file as a module, whose classes go to workers with their code."""
    import cloudpickle  # type: ignore[import-untyped]

    name = f"__main__.{path}"  # Dask pickles by value what says that it is of __main__
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)
    return module
