"""Input generators and output validators; no Dask cluster needed, one is used where there is."""

from genval.graphs import graph
from genval.imsuite import generate
from genval.recursive import rmat
from genval.report import Report, Violation
from genval.validate import validate

__all__ = ["Report", "Violation", "generate", "graph", "rmat", "validate"]
