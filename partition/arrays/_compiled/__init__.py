"""Compiled loops over edges. Import this package only for large inputs: Numba takes half a second.

All loops release the GIL and are cached on disk. None has ``parallel=True``, since its default threading
layer aborts the process when two Dask threads enter it. Indices are unsigned where that saves time: a
signed index is tested for being negative. Some loops fill arrays that are passed to them, which need room
for one entry more than the result: returning a new array takes a microsecond.
"""

from __future__ import annotations

from dgsuite.base.compiling import load
from dgsuite.partition.arrays._compiled.bits import bit
from dgsuite.partition.arrays._compiled.exact import by_exponent
from dgsuite.partition.arrays._compiled.keys import (
    count_ends,
    join,
    of_edges,
    place_ends,
    sort,
    sort_bands,
    squeeze,
    take_apart,
)
from dgsuite.partition.arrays._compiled.marks import (
    both,
    collect,
    fill,
    gather,
    keep,
    land,
    lay,
    mark_rows,
    pick,
    remove,
    scatter,
)
from dgsuite.partition.arrays._compiled.pulling import (
    heads,
    pull,
    pull_any,
    pull_count,
    pull_first,
    pull_minima,
    pull_or,
    pull_sum,
)
from dgsuite.partition.arrays._compiled.pushing import (
    push,
    push_any,
    push_count,
    push_down,
    push_first,
    push_nearer,
    push_or,
    push_sum,
)
from dgsuite.partition.arrays._compiled.rows import (
    count_outside,
    expand,
    group,
    lift,
    outside,
    rewind,
    single,
    tally,
    transpose_outside,
    weave,
    weigh,
)
from dgsuite.partition.arrays._compiled.tiles import cut, sum_tiles

__all__ = [
    "bit",
    "both",
    "by_exponent",
    "collect",
    "count_ends",
    "count_outside",
    "cut",
    "expand",
    "fill",
    "gather",
    "group",
    "heads",
    "join",
    "keep",
    "land",
    "lay",
    "lift",
    "load",
    "mark_rows",
    "of_edges",
    "outside",
    "pick",
    "place_ends",
    "pull",
    "pull_any",
    "pull_count",
    "pull_first",
    "pull_minima",
    "pull_or",
    "pull_sum",
    "push",
    "push_any",
    "push_count",
    "push_down",
    "push_first",
    "push_nearer",
    "push_or",
    "push_sum",
    "remove",
    "rewind",
    "scatter",
    "single",
    "sort",
    "sort_bands",
    "squeeze",
    "sum_tiles",
    "take_apart",
    "tally",
    "transpose_outside",
    "weave",
    "weigh",
]
