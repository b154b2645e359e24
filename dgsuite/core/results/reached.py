"""How many nodes a search from a root has reached."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

from dgsuite.base.warning import warn


def reached(found: xr.DataArray) -> int | None:
    """The number of nodes that have a level or a distance; None if an output is no such thing."""
    if "from the root" not in found.attrs["long_name"]:
        return None
    return int(((found >= 0) & (found < np.inf)).sum())


def tell_alone(ds: xr.Dataset) -> None:
    """Warn if a search has sent nothing, and so reached its root alone."""
    searches = (reached(found) for found in ds.values() if found.dims == ("node",))
    sent = ds.variables["messages"].values  # sums of xarray import much
    if len(sent) and not sent.any() and 1 in searches and ds.sizes["node"] > 1:
        root = json.loads(ds.attrs["parameters"])["root"]
        what = f"only the root, {root!r}, is reached, since no edge leaves it; root= names another"
        warn(f"kernel {ds.attrs['kernel']!r}: {what}", UserWarning)
