"""dgsuite as a backend of networkx: ``nx.pagerank(G, backend="dgsuite")``.

networkx finds this package by the entry points ``networkx.backends`` and ``networkx.backend_info`` and looks
here for functions by their names; they are imported when they are first used.
"""

from dgsuite.base.lazy import lazy_imports
from dgsuite.faces.nx_backend.offers import HOMES

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        **{name: f"{__name__}.{home}:{name}" for name, home in HOMES.items()},
        "can_run": f"{__name__}.calls:can_run",
        "should_run": f"{__name__}.calls:should_run",
        "convert_from_nx": f"{__name__}.graph:convert_from_nx",
        "convert_to_nx": f"{__name__}.graph:convert_to_nx",
        "on_start_tests": f"{__name__}.networkx_tests:on_start_tests",
    },
)
