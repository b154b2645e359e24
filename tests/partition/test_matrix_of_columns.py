"""Kinds of columns by ways in, with and without values that are missing: right, or one clear error.

What is right is plain: labels are the values that went in, of the same type; weights are their numbers; a row
without a value is refused by the name of its column, or dropped and counted.
"""

import re
from decimal import Decimal

import pandas as pd
import pytest

from dgsuite import InputError
from tests.support.columns import KINDS, PAGE, framed, page, ways
from tests.support.graphs import edges_of

ENDS, WEIGHTS = [5, 6, 7], [1.5, 2.5, 3.5]
ROLES = ("ends", "nodes", "weights")
NARROW = re.compile(r"u?int(8|16|32)", re.IGNORECASE)
OBJECTS = {("from_networkx", "weights"), ("nodes=, a list", "nodes")}
"""Where truth values are right: they are numbers in networkx, and a list names objects of any type."""


def is_right(kind, role):
    return kind.numbers if role == "weights" else kind.ids


def cases(right, nulls=False):
    """Roles and kinds. Narrow integers repeat what those of 64 bits show."""
    return [
        pytest.param(role, name, marks=[pytest.mark.long] if NARROW.match(name) else [])
        for role in ROLES
        for name, kind in KINDS.items()
        if is_right(kind, role) == right and (kind.nulls or not nulls)
    ]


def table(role, kind, ends=ENDS, lacking=False):
    """Edges, both ends of which are of a kind, or the weights; with no value in row 1, if it is lacking."""
    a, b, c = kind.values
    one = None if lacking else b
    if role == "weights":
        return framed(pd.Series, ends, kind.make([a, one, c]))
    frame = framed(kind.make, kind.values, WEIGHTS)
    if role == "nodes":
        return frame.assign(source=kind.make([a, one, c]))
    return frame.assign(source=kind.make([a, None, b])) if lacking else frame


def called(way, frame, folder, **how):
    """The graph; None where the library in between does not take the columns."""
    try:
        call = way.make(frame, folder, {"directed": True, "client": None, "relabel": True, **how})
    except Exception:
        assert way.name != "from_dataframe, of pandas"
        return None
    return call()


def refusal(way, frame, folder):
    """The error of a call, "" where the library in between does not take the columns."""
    try:
        assert called(way, frame, folder) is None, way.name
    except InputError as error:
        return str(error)
    return ""


def numbers(kind):
    """The values as weights: decimals are the nearest floats."""
    return [float(value) if type(value) is Decimal else value for value in kind.values]


@pytest.mark.parametrize(("role", "name"), cases(right=True))
def test_every_value_is_what_went_in(role, name, tmp_path):
    kind = KINDS[name]
    for way in ways(kind, role):
        x, y, z = ends = [0, 1, 2] if way.holder == "numpy" else ENDS
        graph = called(way, table(role, kind, ends), tmp_path)
        if graph is None:
            continue
        if role == "weights":
            right = zip([(x, y), (y, z), (x, z)], numbers(kind), strict=True)
            assert edges_of(graph) == dict(right), way.name
            continue
        assert list(graph.labels) == sorted(kind.values), way.name
        assert {type(label) for label in graph.labels} == {type(kind.values[0])}, way.name
        if role == "ends":
            a, b, c = kind.values
            assert edges_of(graph) == {(a, b): 1.5, (b, c): 2.5, (a, c): 3.5}, way.name


@pytest.mark.parametrize(("role", "name"), cases(right=True, nulls=True))
def test_a_row_without_a_value_is_refused_or_dropped(role, name, tmp_path):
    kind = KINDS[name]
    a, b, c = kind.values
    frame = table(role, kind, lacking=True)
    for way in ways(kind, role):
        if not way.nulls or not (message := refusal(way, frame, tmp_path)):
            continue
        named = way.names[role == "weights"]
        if way.name == "from_networkx":
            assert re.search("has weight None|1 of 3 rows have no value", message)
        else:
            start = f"{named}: 1 of 3 rows have no value, the first of them is row 1; leave"
            assert message.startswith(start), (way.name, message)
        if "column" in named:
            column = named.split()[-1]
            assert message.endswith(f'by dropna(subset=[{column}]), or here by missing="drop"')
        graph = called(way, frame, tmp_path, missing="drop")
        if role == "nodes":
            assert set(graph.labels) == {a, c}, way.name
            continue
        assert (graph.built.rows, graph.built.missing) == (3, 1), way.name
        first, _, last = numbers(kind)
        right = {(a, b): 1.5, (b, c): 3.5} if role == "ends" else {(5, 6): first, (5, 7): last}
        assert edges_of(graph) == right, way.name


@pytest.mark.parametrize(("role", "name"), cases(right=False))
def test_what_is_not_right_is_refused(role, name, tmp_path):
    kind = KINDS[name]
    for way in ways(kind, role):
        if isinstance(kind.values[0], bool) and (way.name, role) in OBJECTS:
            continue
        message = refusal(way, table(role, kind), tmp_path)
        assert re.search("must be|must all be|hashable|is a float|is not an edge|^$", message)
        if "got dtype" in message:
            named = way.names[role == "weights"]
            assert message.startswith(f"{named} must be"), (way.name, message)


def test_the_page_shows_these_facts():
    assert page() in PAGE.read_text(), "python -m tests.support.columns writes the table anew"
