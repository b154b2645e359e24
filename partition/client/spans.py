"""One span for all of dgsuite's tasks.

Dask's schedulers and workers keep the statistics of every span for ever. Tasks without a span get a new
one whenever the Dask cluster was idle, that is with each run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

SPAN = "dgsuite"
"""Name and identifier of the span."""

# Dask's dataframes ignore annotations and warn of them; this one is not the user's
warnings.filterwarnings("ignore", rf"Dask annotations \{{'span': \{{'name': \('{SPAN}',\)")


@contextmanager
def spanned() -> Iterator[None]:
    """Put the tasks created in this context into the span, unless the user has opened another one.

    It also works as a decorator.
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
