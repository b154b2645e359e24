"""Lazy imports: a package imports its public names when they are first used, so that it loads quickly."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def placed(package: str, homes: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Where the public names of a package are, as `lazy_imports` takes it, of the names of each submodule."""
    return {name: f"{package}.{home}:{name}" for home, names in homes.items() for name in names}


def lazy_imports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    homes
        For each public name, where it is, as entry points say it: ``"module:name"``, or ``"module"`` for
        a module itself. The package must not have a submodule with the same name: importing that would
        replace the name.
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        value = import_module(module)
        value = getattr(value, attribute) if attribute else value
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        """The public names, which is what completion offers."""
        return sorted({*homes, *vars(sys.modules[package]).get("__all__", ())})

    return getattr_, dir_
