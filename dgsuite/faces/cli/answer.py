"""What a run found, in a few lines for each output."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.core.results.dataset import reached
from dgsuite.kernels.bsp import Output
from dgsuite.partition.graph.dask_views import here

SHOWN = 5
"""Nodes, or values, that are named."""

GATHERED = 1 << 28
"""Bytes of an output that are brought from the workers to be shown, at most."""


def answer(ds: xr.Dataset, outputs: Mapping[str, Output]) -> str:
    """The outputs of a run as text: the first values and the last ones, and what stands out.

    Of truth values it counts those that are true, of nodes and identifiers the nodes that have the same
    one, such as those of a component; of numbers it names the range, and the nodes with the largest.

    Parameters
    ----------
    ds
        The dataset of `dgsuite.run`.
    outputs
        The outputs of its kernel.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.faces.cli.answer import answer
    >>> from dgsuite.kernels import KERNELS
    >>> graph = dgsuite.Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> print(answer(dgsuite.run("wcc", graph), KERNELS["wcc"].outputs))
    component: smallest node of the component
        [0 0 0 3 3]
        2 values; nodes that have them: 0 (3 nodes), 3 (2 nodes)
    """
    return "\n".join(_shown(ds, name, output) for name, output in outputs.items())


def _shown(ds: xr.Dataset, name: str, output: Output) -> str:
    found = ds[name]
    lines = [f"{name}: {found.attrs['long_name']}"]
    if found.nbytes > GATHERED and found.chunks:
        lines.append(f"{found.nbytes:,} bytes on the workers, too many to show")
    else:
        values = here(found).values
        lines.append(np.array2string(values, max_line_width=100, threshold=10, precision=4))
        if values.ndim == 1:
            if output.from_root:
                lines.append(f"{reached(found):,} of {len(values):,} nodes reached")
            lines.append(_told(ds, values, output))
    return "\n    ".join("\n".join(lines).splitlines())


def _told(ds: xr.Dataset, values: NDArray, output: Output) -> str:
    """What stands out among the values of the nodes, or of the rows of a table."""
    if not len(values):
        return "no rows"
    if values.dtype == bool:
        return f"{np.count_nonzero(values):,} of {len(values):,} nodes"
    if output.nodes or output.identifiers:
        codes, different = pd.factorize(values, use_na_sentinel=False)
        sizes = np.bincount(codes)
        top = _largest(sizes)
        what = "row" if output.tabular else "node"
        had = ", ".join(
            f"{_text(value)} ({size:,} {what}{'s' * (size > 1)})"
            for value, size in zip(different[top].tolist(), sizes[top].tolist(), strict=True)
        )
        count = f"{len(sizes):,} value{'s' * (len(sizes) > 1)}"
        return f"{count}; {what}s that have them: {had}{', ...' * (len(sizes) > len(top))}"
    if (values == values[0]).all():
        return f"all {_text(values[0].item())}"
    top = _largest(values)
    dim = output.dims[0]
    places = here(ds[dim].isel({dim: top})).values.tolist()
    largest = ", ".join(
        f"{_text(value)} ({dim} {place!r})"
        for value, place in zip(values[top].tolist(), places, strict=True)
    )
    return f"from {_text(values.min().item())} to {_text(values.max().item())}; largest: {largest}"


def _largest(values: NDArray) -> NDArray[np.intp]:
    """Where the largest values are, largest first; of equal ones the first."""
    least = np.partition(values, -SHOWN)[-SHOWN] if len(values) > SHOWN else values.min()
    some = np.flatnonzero(values >= least)[::-1]  # of equal values the first is then the last
    return some[np.argsort(values[some], kind="stable")][::-1][:SHOWN]


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
