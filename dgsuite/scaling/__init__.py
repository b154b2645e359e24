"""How a program scales: models of its completion time, its demand for bandwidth, and what if.

After Medya, Cherkasova, Magalhaes, Ozonat, Padmanabha, Sarma and Sheikh, Towards Performance and Scalability
Analysis of Distributed Memory Programs on Large-Scale Clusters (ICPE 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.scaling.completion_time import CompletionTime, choose
    from dgsuite.scaling.demand import BandwidthDemand
    from dgsuite.scaling.measure import completion, measured
    from dgsuite.scaling.traced import from_trace
    from dgsuite.scaling.traffic import trace
    from dgsuite.scaling.whatif import Machine, calibrate, what_if

__all__ = [
    "BandwidthDemand",
    "CompletionTime",
    "Machine",
    "calibrate",
    "choose",
    "completion",
    "from_trace",
    "measured",
    "trace",
    "what_if",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "BandwidthDemand": "dgsuite.scaling.demand.BandwidthDemand",
        "CompletionTime": "dgsuite.scaling.completion_time.CompletionTime",
        "Machine": "dgsuite.scaling.whatif.Machine",
        "calibrate": "dgsuite.scaling.whatif.calibrate",
        "choose": "dgsuite.scaling.completion_time.choose",
        "completion": "dgsuite.scaling.measure.completion",
        "from_trace": "dgsuite.scaling.traced.from_trace",
        "measured": "dgsuite.scaling.measure.measured",
        "trace": "dgsuite.scaling.traffic.trace",
        "what_if": "dgsuite.scaling.whatif.what_if",
    },
)
