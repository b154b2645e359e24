"""How a program scales: models of its completion time, its demand for bandwidth, and what if.

After Medya, Cherkasova, Magalhaes, Ozonat, Padmanabha, Sarma and Sheikh, Towards Performance and Scalability
Analysis of Distributed Memory Programs on Large-Scale Clusters (ICPE 2016).
"""

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports, placed

if TYPE_CHECKING:
    from dgsuite.studies.scaling.completion_time import CompletionTime as CompletionTime
    from dgsuite.studies.scaling.completion_time import choose as choose
    from dgsuite.studies.scaling.demand import BandwidthDemand as BandwidthDemand
    from dgsuite.studies.scaling.measure import completion as completion
    from dgsuite.studies.scaling.measure import measured as measured
    from dgsuite.studies.scaling.tables import read as read
    from dgsuite.studies.scaling.traffic import from_trace as from_trace
    from dgsuite.studies.scaling.traffic import trace as trace
    from dgsuite.studies.scaling.whatif import Machine as Machine
    from dgsuite.studies.scaling.whatif import calibrate as calibrate
    from dgsuite.studies.scaling.whatif import what_if as what_if


HOMES = {
    "completion_time": ("CompletionTime", "choose"),
    "demand": ("BandwidthDemand",),
    "measure": ("completion", "measured"),
    "tables": ("read",),
    "traffic": ("from_trace", "trace"),
    "whatif": ("Machine", "calibrate", "what_if"),
}
PLACES = placed(__name__, HOMES)
__all__ = [*PLACES]
__getattr__, __dir__ = lazy_imports(__name__, PLACES)
