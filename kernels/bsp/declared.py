"""What a kernel's class must declare, checked before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp.kernel import NETWORKS, Kernel, Output
from dgsuite.kernels.bsp.state import ClusterState, dtype_of

FORMS = ("iterative", "recursive", "block")

DECLARED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ('text, such as name = "least"', lambda name: isinstance(name, str) and name),
    "form": (f"one of {', '.join(FORMS)}", lambda form: form in FORMS),
    "outputs": (
        'a mapping from names to Output, such as outputs = {"least": bsp.Output("smallest neighbour")}',
        lambda outputs: _maps(outputs, lambda output: isinstance(output, Output)),
    ),
    "fields": (
        'a mapping from names to dtypes, such as fields = {"id": np.int64}',
        lambda fields: _maps(fields, lambda kind: dtype_of(kind, 1) is not None),
    ),
    "refuses": (
        f"a mapping from kinds of networks ({', '.join(NETWORKS)}) to why it does not take them",
        lambda refuses: isinstance(refuses, Mapping) and not refuses.keys() - set(NETWORKS),
    ),
}
"""By attribute: what it must be, and whether a value is that."""


@lru_cache
def check_declared(cls: type[Kernel]) -> None:
    """See that a kernel's class declares what it must.

    Raises
    ------
    InputError
        It does not; the message names the class, the attribute and what would be right.
    """
    for one in cls.__mro__[: cls.__mro__.index(Kernel)]:
        _check_decorated(one, "@dataclass(frozen=True)", "parameter")
    for name, (wanted, fits) in DECLARED.items():
        _check(cls, name, wanted, fits)
    if cls.program is Kernel.program:
        _refuse(cls, "program", "is missing: define program(self, net), which yields the rounds")
    if cls.start is Kernel.start:
        _check(
            cls,
            "state",
            "a dataclass derived from bsp.ClusterState, such as state = State; or define start(self, c)",
            lambda state: isinstance(state, type) and issubclass(state, ClusterState),
        )
        state: Any = cls.state
        for one in state.__mro__[: state.__mro__.index(ClusterState)]:
            _check_decorated(one, "@dataclass(eq=False)", "field")


def _check(cls: type[Kernel], name: str, wanted: str, fits: Any) -> None:
    if not hasattr(cls, name):
        _refuse(cls, name, f"is missing: it must be {wanted}")
    if not fits(value := getattr(cls, name)):
        _refuse(cls, name, f"must be {wanted}; got {value!r}")


def _check_decorated(cls: type, decorator: str, what: str) -> None:
    """A class that is not decorated has no fields of its own: annotated attributes have no effect."""
    if "__dataclass_fields__" in vars(cls):
        return
    for name, kind in vars(cls).get("__annotations__", {}).items():
        if "ClassVar" not in str(kind):
            problem = f"is no {what}, since the class is no dataclass: put {decorator} above it"
            _refuse(cls, name, problem)


def _maps(given: Any, fits: Callable[[Any], bool]) -> bool:
    """Whether something is a mapping from names to values that fit."""
    try:
        return isinstance(given, Mapping) and all(
            isinstance(name, str) and fits(value) for name, value in given.items()
        )
    except TypeError:  # of what is no dtype
        return False


def _refuse(cls: type, name: str, problem: str) -> NoReturn:
    raise InputError(f"class {cls.__qualname__}: attribute {name!r} {problem}")
