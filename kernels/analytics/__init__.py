"""Searches, shortest paths, betweenness.

Modules of compiled loops take Numba, so they are imported when one of their loops is first used:
``analytics._blocks.search(...)``. So are nested components, which derive from the plain ones.
"""

from dgsuite.base.lazy import lazy_imports

LATER = (
    *("_betweenness", "_betweenness_rounds", "_bfs_grid", "_bfs_many", "_blocks", "_bridges"),
    *("_cdlp", "_communities", "_cores", "_eccentricity", "_fastrp", "_greedy", "_hyperball"),
    *("_ktruss", "_motifs", "_sample", "_similarity", "_strong", "_triangles", "_walks"),
    "wcc_nested",
)

TOOLS = {name: f"dgsuite.kernels.tools.{name}" for name in ("_draws", "_unions")}

__getattr__, __dir__ = lazy_imports(
    __name__, TOOLS | {name: f"{__name__}.{name}" for name in LATER}
)
