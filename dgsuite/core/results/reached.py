"""How many nodes a search from a root has reached."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

from dgsuite.base.warning import warn
from dgsuite.kernels.bsp import Kernel


def reached(distances: xr.DataArray) -> int:
    """The number of nodes that a search has reached: see `dgsuite.kernels.bsp.Output.from_root`."""
    return int(((distances >= 0) & (distances < np.inf)).sum())


def tell_alone(kernel: Kernel, ds: xr.Dataset) -> None:
    """Warn if a search has sent nothing, and so reached its root alone."""
    searches = (reached(ds[name]) for name, output in kernel.outputs.items() if output.from_root)
    sent = ds.variables["messages"].values  # sums of xarray import much
    if len(sent) and not sent.any() and 1 in searches and ds.sizes["node"] > 1:
        root = json.loads(ds.attrs["parameters"])["root"]
        what = f"only the root, {root!r}, is reached, since no edge leaves it; root= names another"
        warn(f"kernel {kernel.name!r}: {what}", UserWarning)
