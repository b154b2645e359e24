"""Runs that were never made, with times of a known form."""

import numpy as np
import xarray as xr

RUN = {
    "kernel": "bfs2d",
    "style": "clocked",
    "form": "iterative",
    "counted_as": "clocked",
    "kind": "",
    "threads": 1,
    "parameters": "{}",
    "processors": 64,
}


def run(n, p, seconds, bandwidth=100.0, repeat=0, **attrs):
    """A run, as far as an analysis looks at it."""
    own = {"n": n, "m": 16 * n, "workers": p, "clusters": p, "seconds": seconds}
    return xr.Dataset(attrs=RUN | own | {"bandwidth": bandwidth, "repeat": repeat} | attrs)


def paper(n, p, c=(0.05, 4e-5, 1e-5)):
    """Seconds in the paper's form, with C1 and C2 in proportion to the size."""
    return c[0] + c[1] * n / p + c[2] * n / np.sqrt(p)


def sweep(sizes=(2**16, 2**17), ps=(4, 9, 16, 25), noise=0.01, seed=1, time=paper, **attrs):
    """Made runs with relative noise; less bandwidth makes the second term longer."""
    rng = np.random.default_rng(seed)
    return [
        run(n, p, (time(n, p) + 1e-5 * n / np.sqrt(p) * (100 / b - 1)) * (1 + noise * draw), b, **attrs)
        for n in sizes
        for p in ps
        for b, draw in zip((20.0, 40.0, 100.0), rng.standard_normal(3), strict=True)
    ]  # fmt: skip
