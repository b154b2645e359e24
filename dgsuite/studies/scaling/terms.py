"""Terms of a model of time, written as text: ``1/sqrt(p)``, ``size/p``, ``log(p)``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError

FACTOR = re.compile(r"(?:(sqrt|log)\((p|size)\)|(1|p|size|\(p-1\)))(?:\^(\d+(?:\.\d+)?))?")
FORMS: tuple[tuple[str, ...], ...] = (
    ("1", "1/p", "1/sqrt(p)"),
    ("1", "1/p"),
    ("1", "1/p", "log(p)"),
    ("1", "1/p", "p"),
    ("1", "1/p", "1/sqrt(p)", "log(p)"),
)
"""Sets of terms to choose from: the paper's; no communication; a tree of messages; one-dimensional
traffic, where everyone sends to everyone; and the paper's with a tree."""

FORMS_WITH_SIZE: tuple[tuple[str, ...], ...] = (
    ("1", "size/p", "size/sqrt(p)"),
    ("1", "size/p"),
    ("1", "size/p", "log(p)"),
    ("1", "size/p", "p"),
    ("1", "size/p", "size"),
    ("1", "size*(p-1)/p", "p"),
    ("1", "size/p", "size*(p-1)/p", "p"),
    ("1", "size/p", "size/sqrt(p)", "log(p)"),
)
"""The same for problems of several sizes: the paper's, whose C1 and C2 are in proportion to the size; and
forms of one-dimensional traffic, where each worker sends its share of the problem to all p - 1 others."""

MIXTURE = ("1", *(f"1/p^{k / 20:g}" for k in range(20, 0, -1)), "log(p)", "p")
"""Terms whose sums, with coefficients of at least 0, are all forms, and power laws."""

MIXTURE_WITH_SIZE = tuple(dict.fromkeys(term for form in FORMS_WITH_SIZE for term in form))
"""The same for problems of several sizes."""


def design(terms: Sequence[str], p: NDArray, size: NDArray | None) -> NDArray[np.float64]:
    """Value of each term at each point, shape (points, terms)."""
    return np.stack([value(term, p, size) for term in terms], axis=1)


def value(term: str, p: NDArray, size: NDArray | None) -> NDArray[np.float64]:
    """A term at some points.

    Raises
    ------
    InputError
        It cannot be read, or needs a size that was not given.
    """
    out = np.ones(len(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        for divided, function, name, power in _factors(term):
            if name == "size" and size is None:
                raise InputError(f"term {term!r} needs the size of each point: pass size=")
            base = {"p": p, "(p-1)": p - 1, "size": size}[name]
            assert base is not None
            factor = np.sqrt(base) if function == "sqrt" else np.log2(base) if function else base
            factor = factor if power == 1 else factor**power
            out = out / factor if divided else out * factor
    if not np.isfinite(out).all():
        raise InputError(f"term {term!r} is not finite at p = {p[~np.isfinite(out)][0]:g}")
    return out


@cache
def _factors(term: str) -> list[tuple[bool, str | None, str, float]]:
    """Of each factor: whether it is divided by, a function, of what, and to which power."""
    found, divided = [], False
    for i, part in enumerate(re.split(r"([*/])", term.replace(" ", ""))):
        if i % 2:
            divided = part == "/"
            continue
        read = FACTOR.fullmatch(part)
        if read is None:
            raise InputError(
                f"term {term!r}: {part!r} is not understood; a term is made of 1, p, (p-1), size, "
                f"sqrt(p), log(p), p^2 and the like, with * and /"
            )
        function, inside, plain, power = read.groups()
        if plain != "1":
            found.append((divided, function, inside or plain, float(power or 1)))
    return found


def points(p: ArrayLike, name: str = "p") -> NDArray[np.float64]:
    """Numbers of machines, or sizes, as an array.

    Raises
    ------
    InputError
        One is not a number, not above 0, or not finite.
    """
    try:
        out = np.atleast_1d(np.asarray(p, float))
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {p!r}") from None
    if out.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {out.shape}")
    if bad := [x for x in out.tolist() if not 0 < x < np.inf]:
        raise InputError(f"{name} must be above 0 and finite, got {bad[0]}")
    return out
