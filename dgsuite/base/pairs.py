"""Pairs of numbers, such as the node ids of a sender and a receiver, as one number each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pair_key(first: Any, second: Any, n: int) -> NDArray[np.int64]:
    """A number for each pair. Different pairs have different numbers, in the order of the pairs.

    Ids are stored in 32 bits where they fit, and then their product with ``n`` would wrap; here it has 64.

    Parameters
    ----------
    first, second
        Whole numbers of any type. The second are from 0 to ``n - 1``.
    n
        At most `dgsuite.partition.sources.piece.MOST_NODES`, if the first are below it, too.

    Examples
    --------
    >>> import numpy as np
    >>> pair_key(np.array([69_999], np.int32), np.array([1], np.int32), 70_000)
    array([4899930001])
    """
    first, second = (np.asarray(ids).astype(np.int64, copy=False) for ids in (first, second))
    return first * int(n) + second
