"""Runs, and what rules say of them."""

import dgsuite
from dgsuite import genval


def judged(kernel, graph, **how):
    """The dataset of a run, by default a serial one, and what the kernel's rule says of it."""
    ds = dgsuite.run(kernel, graph, **{"style": "serial", **how})
    return ds, genval.validate(kernel, graph, ds)


def valid(kernel, graph, **how):
    """The dataset of such a run, of which the rule finds nothing wrong."""
    ds, report = judged(kernel, graph, **how)
    assert report.ok, str(report)
    return ds
