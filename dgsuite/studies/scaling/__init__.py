"""How a program scales: models of its completion time, its demand for bandwidth, and what if.

After Medya, Cherkasova, Magalhaes, Ozonat, Padmanabha, Sarma and Sheikh, Towards Performance and Scalability
Analysis of Distributed Memory Programs on Large-Scale Clusters (ICPE 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

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
    "BandwidthDemand": "dgsuite.studies.scaling.demand:BandwidthDemand",
    "CompletionTime": "dgsuite.studies.scaling.completion_time:CompletionTime",
    "Machine": "dgsuite.studies.scaling.whatif:Machine",
    "calibrate": "dgsuite.studies.scaling.whatif:calibrate",
    "choose": "dgsuite.studies.scaling.completion_time:choose",
    "completion": "dgsuite.studies.scaling.measure:completion",
    "from_trace": "dgsuite.studies.scaling.traffic:from_trace",
    "measured": "dgsuite.studies.scaling.measure:measured",
    "read": "dgsuite.studies.scaling.tables:read",
    "trace": "dgsuite.studies.scaling.traffic:trace",
    "what_if": "dgsuite.studies.scaling.whatif:what_if",
}
__all__ = [*HOMES]
__getattr__, __dir__ = lazy_imports(__name__, HOMES)
