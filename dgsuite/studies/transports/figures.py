"""Pictures of what transports take."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dgsuite.core.results.plots import grid, styled

LOOKS = {"tcp": "o", "uds": "s", "mpb": "^", "mpimpb": "v"}


@styled
def draw(ds: xr.Dataset) -> Figure:
    """Bandwidth over message size, a panel a pattern, and kernels' times if there are."""
    patterns = [str(p) for p in ds.pattern.values]
    kernels = "kernel" in ds.dims
    figure, axes = grid([*patterns, *[""] * kernels], 4.2)
    for ax, pattern in zip(axes, patterns, strict=False):
        for protocol in ds.protocol.values:
            part = ds.sel(pattern=pattern, protocol=protocol)
            if part.median_seconds.isnull().all():
                continue
            marker, rate = LOOKS.get(str(protocol), "."), part.bytes_per_second / 1e6
            ax.loglog(part["size"], rate, marker=marker, label=str(protocol))
        ax.set(xlabel="bytes of a message", ylabel="MB/s")
        ax.legend()
    if kernels:
        width = 0.8 / ds.sizes["protocol"]
        for k, protocol in enumerate(ds.protocol.values):
            heights = 1e3 * ds.kernel_median_seconds.sel(protocol=protocol).values
            axes[-1].bar(np.arange(len(heights)) + k * width, heights, width, label=str(protocol))
        middle = np.arange(ds.sizes["kernel"]) + 0.4 - width / 2
        axes[-1].set_xticks(middle, ds.kernel.values)
        axes[-1].set_ylabel("ms")
        axes[-1].legend()
    return figure
