"""What tests of the backend of networkx share: networkx knows it, and graphs of all kinds."""

import networkx as nx
import pytest
from hypothesis import strategies as st
from networkx.utils import backends as dispatch

from dgsuite.faces import nx_backend
from dgsuite.faces.nx_backend import info


class Point:
    """As an entry point: networkx then needs no installation that has it."""

    def load(self):
        return nx_backend


@pytest.fixture(scope="module", autouse=True)
def known():
    """networkx knows the backend, and does not warn that it uses what it has converted."""
    with pytest.MonkeyPatch.context() as patch:
        if "dgsuite" not in dispatch.backends:
            patch.setitem(dispatch.backends, "dgsuite", Point())
            patch.setitem(dispatch.backend_info, "dgsuite", info.get_info())
            patch.setattr(nx.config, "backends", nx.utils.Config(dgsuite=info.settings()))
            call = dispatch._dispatchable._call_if_any_backends_installed
            patch.setattr(dispatch._dispatchable, "__call__", call)
        patch.setattr(nx.config, "warnings_to_ignore", {"cache"})
        yield


LABELS = (int, str, lambda i: ("node", i), lambda i: 7 - i, lambda i: 1000 * i)


@st.composite
def graphs(draw, kinds=(nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph), loops=True):
    """Graphs of up to seven nodes, some with weights; edges are in any order."""
    graph = draw(st.sampled_from(kinds))()
    label = draw(st.sampled_from(LABELS))
    n = draw(st.integers(0, 7))
    graph.add_nodes_from(map(label, range(n)))
    weights = draw(
        st.sampled_from(
            (
                st.just({}),
                st.fixed_dictionaries({"weight": st.integers(1, 4)}),
                st.fixed_dictionaries({"weight": st.sampled_from((0.1, 0.2, 0.3, 1.5))}),
                st.fixed_dictionaries({}, optional={"weight": st.integers(0, 3)}),
            )
        )
    )
    nodes = st.integers(0, max(n - 1, 0))
    for u, v, data in draw(st.lists(st.tuples(nodes, nodes, weights), max_size=14 if n else 0)):
        if loops or u != v:
            graph.add_edge(label(u), label(v), **data)
    return graph


def first(graph):
    return next(iter(graph), "none")


def by_node(function, *arguments, **keywords):
    """A call on a graph alone, with these arguments."""
    return lambda graph, **backend: function(graph, *arguments, **keywords, **backend)


def from_first(function, **keywords):
    return lambda graph, **backend: function(graph, first(graph), **keywords, **backend)


def outcome(call, graph, **backend):
    """The result of a call, or the type of its error."""
    try:
        found = call(graph, **backend)
        return found if isinstance(found, dict | tuple | float | int | set) else list(found)
    except (nx.NetworkXException, ArithmeticError, LookupError, ValueError) as error:
        return type(error)
