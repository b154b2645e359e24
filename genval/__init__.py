"""Input generators and output validators. They use a Dask cluster if there is one, and do not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.lazy import lazy_imports

if TYPE_CHECKING:
    from genval.graphs import graph
    from genval.imsuite import generate
    from genval.recursive import rmat
    from genval.report import Report, Violation
    from genval.validation import validate

__all__ = ["Report", "Violation", "generate", "graph", "rmat", "validate"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "Report": "genval.report.Report",
        "Violation": "genval.report.Violation",
        "generate": "genval.imsuite.generate",
        "graph": "genval.graphs.graph",
        "rmat": "genval.recursive.rmat",
        "validate": "genval.validation.validate",
    },
)
