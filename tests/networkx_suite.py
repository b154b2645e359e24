"""networkx's own tests of the functions that the backend offers: ``make networkx``.

Calls that the backend does not support fall back to networkx. At the end a table shows how often the backend
ran each function. Further arguments are passed to pytest.
"""

import os
import sys
from collections import Counter
from importlib.metadata import entry_points

import pytest

GENERATORS = (
    *("readwrite.tests.test_edgelist", "tests.test_convert_numpy"),
    *("tests.test_convert_pandas", "tests.test_convert_scipy"),
)
"""Of ``networkx``."""

MODULES = {
    "bipartite": "basic",
    "centrality": "betweenness_centrality closeness_centrality eigenvector_centrality"
    " harmonic_centrality katz_centrality",
    "coloring": "coloring",
    "community": "leiden",
    "components": "biconnected connected strongly_connected weakly_connected",
    "link_analysis": "hits pagerank",
    "shortest_paths": "generic unweighted weighted",
    "": "bridges cluster core dag distance_measures::TestDistance link_prediction matching mis"
    " voronoi",
    "traversal": "bfs",
    "tree": "mst",
}
"""Of ``networkx.algorithms``."""


SLOW = "test_use_bounds_on_off_consistency"
"""A test with 700 sets of arguments, each a dozen calls."""


class Answers:
    """Counts the calls that kernels answer."""

    def __init__(self):
        self.counts = Counter()

    def pytest_collection_finish(self):
        from dgsuite.faces import nx_backend
        from dgsuite.faces.nx_backend.offers import HOMES

        def counted(name, answer):
            def call(*args, **kwargs):
                found = answer(*args, **kwargs)
                self.counts[name] += 1
                return found

            return call

        for name in HOMES:
            offered = getattr(nx_backend, name)
            offered._function = counted(name, offered._function)

    def pytest_terminal_summary(self, terminalreporter):
        from dgsuite.faces.nx_backend.offers import HOMES

        terminalreporter.section("answered by kernels")
        for name in HOMES:
            terminalreporter.write_line(f"{name} {self.counts[name]}")


def main(arguments):
    """Run the tests; the exit status is pytest's."""
    if not entry_points(group="networkx.backends", name="dgsuite"):
        print("networkx does not know the backend: install dgsuite again", file=sys.stderr)
        return 2
    modules = [
        f"networkx.algorithms.{folder}.tests.test_{name}".replace("..", ".")
        for folder, names in MODULES.items()
        for name in names.split()
    ]
    modules += [f"networkx.{module}" for module in GENERATORS]
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "-W", "ignore"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETWORKX_TEST_BACKEND", "dgsuite")
        patch.setenv("NETWORKX_FALLBACK_TO_NX", "True")
        options += ["--pyargs", *modules, "-k", f"not {SLOW}", *arguments]
        return pytest.main(options, plugins=[Answers()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
