"""Runs whose outputs the rule accepts."""

from __future__ import annotations

import dgsuite
from dgsuite import genval


def valid(kernel, graph, **how):
    """The dataset of a run, by default a serial one, of which the kernel's rule finds nothing wrong."""
    ds = dgsuite.run(kernel, graph, **{"style": "serial", **how})
    report = genval.validate(kernel, graph, ds)
    assert report.ok, str(report)
    return ds
