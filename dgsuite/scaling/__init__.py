"""How a program scales: models of its completion time, its demand for bandwidth, and what if.

After Medya, Cherkasova, Magalhaes, Ozonat, Padmanabha, Sarma and Sheikh, Towards Performance and Scalability
Analysis of Distributed Memory Programs on Large-Scale Clusters (ICPE 2016).
"""

from dgsuite.scaling.completion import CompletionTime, choose
from dgsuite.scaling.demand import BandwidthDemand
from dgsuite.scaling.measure import completion, measured
from dgsuite.scaling.traffic import trace
from dgsuite.scaling.whatif import Machine, calibrate, what_if

__all__ = [
    "BandwidthDemand",
    "CompletionTime",
    "Machine",
    "calibrate",
    "choose",
    "completion",
    "measured",
    "trace",
    "what_if",
]
