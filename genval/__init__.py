"""Input generators and output validators. They use a Dask cluster if there is one, and do not need it."""

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.genval.graphs import graph
    from dgsuite.genval.imsuite import generate
    from dgsuite.genval.recursive import rmat
    from dgsuite.genval.report import Report, Violation
    from dgsuite.genval.validation import validate

__all__ = ["Report", "Violation", "generate", "graph", "rmat", "validate"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "Report": "dgsuite.genval.report:Report",
        "Violation": "dgsuite.genval.report:Violation",
        "generate": "dgsuite.genval.imsuite:generate",
        "graph": "dgsuite.genval.graphs:graph",
        "rmat": "dgsuite.genval.recursive:rmat",
        "validate": "dgsuite.genval.validation:validate",
    },
)
