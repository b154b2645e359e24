"""One span for all of dgsuite's tasks.

Dask's schedulers and workers keep statistics of every span for ever, and tasks without a span get a new one
whenever the cluster was at rest: with each run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

SPAN = "dgsuite"
"""Name and identifier of the span."""

# Dask's dataframes warn of annotations, which they ignore; users did not make this one
warnings.filterwarnings("ignore", rf"Dask annotations \{{'span': \{{'name': \('{SPAN}',\)")


@contextmanager
def spanned() -> Iterator[None]:
    """Put the tasks that are created meanwhile into the span, unless the user has opened one.

    Also a decorator.
    """
    if "distributed" not in sys.modules:
        yield
        return
    import dask

    if "span" in dask.get_annotations():
        yield
        return
    with dask.annotate(span={"name": (SPAN,), "ids": (SPAN,)}):
        yield
