"""Spans of Dask for dgsuite's tasks: "dgsuite", and within it one for graphs, and one for each kernel.

Dask's schedulers and workers keep the statistics of every span for ever. Tasks without a span get a new
one whenever the Dask cluster was idle, that is with each run. Dask puts tasks whose keys begin alike into
one span, that of the first, as long as there are any; so what has a span of its own has keys of its own.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

SPAN = "dgsuite"
"""Name and identifier of the span that holds the others, whose identifiers are theirs with their names."""

# Dask's dataframes ignore annotations and warn of them; these are not the user's
warnings.filterwarnings("ignore", rf"Dask annotations \{{'span': \{{'name': \('{SPAN}',")


@contextmanager
def span(name: str) -> Iterator[None]:
    """Put the tasks created in this context into a span, unless the user has opened another one.

    It also works as a decorator.

    Parameters
    ----------
    name
        What the tasks are for, such as the name of a kernel.
    """
    if "distributed" not in sys.modules:
        yield
        return
    import dask

    outer = dask.get_annotations().get("span")
    if outer is not None and outer["name"][0] != SPAN:
        yield
        return
    with dask.annotate(span={"name": (SPAN, name), "ids": (SPAN, f"{SPAN}-{name}")}):
        yield


spanned = span("graph")
"""Decorates functions that make graphs."""
