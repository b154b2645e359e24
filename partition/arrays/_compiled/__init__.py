"""Compiled loops over edges. Import this package only for large inputs: Numba takes half a second.

All loops release the GIL and are cached on disk. None has ``parallel=True``, since its default threading
layer aborts the process when two Dask threads enter it. Indices are unsigned where that saves time: a
signed index is tested for being negative. Some loops fill arrays that are passed to them, which need room
for one entry more than the result: returning a new array takes a microsecond.
"""

from dgsuite.base.compiling import load as load
from dgsuite.partition.arrays._compiled.bits import *  # noqa: F403
from dgsuite.partition.arrays._compiled.exact import *  # noqa: F403
from dgsuite.partition.arrays._compiled.keys import *  # noqa: F403
from dgsuite.partition.arrays._compiled.marks import *  # noqa: F403
from dgsuite.partition.arrays._compiled.pulling import *  # noqa: F403
from dgsuite.partition.arrays._compiled.pushing import *  # noqa: F403
from dgsuite.partition.arrays._compiled.rows import *  # noqa: F403
from dgsuite.partition.arrays._compiled.tiles import *  # noqa: F403
