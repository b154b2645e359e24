"""Classical distributed algorithms as data-parallel programs on Dask, measured round by round."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports
from dgsuite.base.version import __version__ as __version__

if TYPE_CHECKING:
    from dgsuite.base.errors import DgsuiteError, InputError, NegativeCycle, RunError, WorkerLost
    from dgsuite.core import traces
    from dgsuite.core.results.dataframe import to_dataframe
    from dgsuite.core.results.dataset import open_dataset as open
    from dgsuite.core.results.dataset import save
    from dgsuite.core.results.quality import quality
    from dgsuite.core.running.catalogue import list_kernels
    from dgsuite.core.running.components import components, pairs
    from dgsuite.core.running.estimate import estimate
    from dgsuite.core.running.runner import run, run_each
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.graph.graph import Graph
    from dgsuite.studies import lab, scaling, transports
    from dgsuite.studies.chem.scf import hartree_fock
    from dgsuite.studies.lab.checking import check_kernel
    from dgsuite.studies.network.adversary import Adversary
    from dgsuite.studies.network.network import Network
    from dgsuite.studies.network.parts import Byzantine, Crash, Partition

__all__ = [
    "Adversary",
    "Byzantine",
    "Crash",
    "DgsuiteError",
    "Graph",
    "InputError",
    "Kernel",
    "NegativeCycle",
    "Network",
    "Partition",
    "RunError",
    "WorkerLost",
    "check_kernel",
    "components",
    "estimate",
    "hartree_fock",
    "lab",
    "list_kernels",
    "open",
    "pairs",
    "quality",
    "run",
    "run_each",
    "save",
    "scaling",
    "to_dataframe",
    "traces",
    "transports",
]

if not Path(__path__[0], "partition").is_dir():  # in a checkout three packages are beside this one
    __path__.append(str(Path(__path__[0]).parent))

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "dgsuite needs the global interpreter lock, which is off in this free-threaded Python; set "
        "PYTHON_GIL=1, or use the usual build of Python"
    )

if "dask.config" in sys.modules:  # else the first use of a setting loads them
    from dgsuite.partition.client.settings import load

    load()

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "Adversary": "dgsuite.studies.network.adversary:Adversary",
        "Byzantine": "dgsuite.studies.network.parts:Byzantine",
        "Crash": "dgsuite.studies.network.parts:Crash",
        "DgsuiteError": "dgsuite.base.errors:DgsuiteError",
        "Graph": "dgsuite.partition.graph.graph:Graph",
        "InputError": "dgsuite.base.errors:InputError",
        "Kernel": "dgsuite.kernels.bsp:Kernel",
        "NegativeCycle": "dgsuite.base.errors:NegativeCycle",
        "Network": "dgsuite.studies.network.network:Network",
        "Partition": "dgsuite.studies.network.parts:Partition",
        "RunError": "dgsuite.base.errors:RunError",
        "WorkerLost": "dgsuite.base.errors:WorkerLost",
        "check_kernel": "dgsuite.studies.lab.checking:check_kernel",
        "components": "dgsuite.core.running.components:components",
        "estimate": "dgsuite.core.running.estimate:estimate",
        "hartree_fock": "dgsuite.studies.chem.scf:hartree_fock",
        "lab": "dgsuite.studies.lab",
        "list_kernels": "dgsuite.core.running.catalogue:list_kernels",
        "open": "dgsuite.core.results.dataset:open_dataset",
        "pairs": "dgsuite.core.running.components:pairs",
        "quality": "dgsuite.core.results.quality:quality",
        "run": "dgsuite.core.running.runner:run",
        "run_each": "dgsuite.core.running.runner:run_each",
        "save": "dgsuite.core.results.dataset:save",
        "scaling": "dgsuite.studies.scaling",
        "to_dataframe": "dgsuite.core.results.dataframe:to_dataframe",
        "traces": "dgsuite.core.traces",
        "transports": "dgsuite.studies.transports",
    },
)
