"""Pictures of what transports take."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from dgsuite.core.results.plots import styled

LOOKS = {"tcp": "o", "uds": "s", "mpb": "^", "mpimpb": "v"}


@styled
def draw(ds: xr.Dataset) -> Figure:
    """Bandwidth over message size, a panel a pattern, and kernels' times if there are."""
    patterns = [str(p) for p in ds.pattern.values]
    kernels = "kernel" in ds.dims
    figure = Figure(figsize=(4.2 * (len(patterns) + kernels), 3.6))
    axes = figure.subplots(1, len(patterns) + kernels, squeeze=False)[0]
    for ax, pattern in zip(axes, patterns, strict=False):
        for protocol in ds.protocol.values:
            part = ds.sel(pattern=pattern, protocol=protocol)
            if part.median_seconds.isnull().all():
                continue
            ax.loglog(
                part["size"],
                part.bytes_per_second / 1e6,
                marker=LOOKS.get(str(protocol), "."),
                label=str(protocol),
            )
        ax.set_title(pattern)
        ax.set_xlabel("bytes of a message")
        ax.set_ylabel("MB/s")
        ax.legend()
    if kernels:
        width = 0.8 / ds.sizes["protocol"]
        for k, protocol in enumerate(ds.protocol.values):
            heights = 1e3 * ds.kernel_median_seconds.sel(protocol=protocol).values
            at = [x + k * width for x in range(len(heights))]
            axes[-1].bar(at, heights, width, label=str(protocol))
        axes[-1].set_xticks([x + 0.4 - width / 2 for x in range(ds.sizes["kernel"])])
        axes[-1].set_xticklabels([str(k) for k in ds.kernel.values])
        axes[-1].set_ylabel("ms")
        axes[-1].legend()
    return figure
