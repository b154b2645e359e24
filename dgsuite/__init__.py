"""Classical distributed algorithms as data-parallel programs on Dask, measured round by round."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports, placed
from dgsuite.base.version import __version__ as __version__

if TYPE_CHECKING:
    from dgsuite.base.errors import DgsuiteError as DgsuiteError
    from dgsuite.base.errors import InputError as InputError
    from dgsuite.base.errors import NegativeCycle as NegativeCycle
    from dgsuite.base.errors import RunError as RunError
    from dgsuite.base.errors import WorkerLost as WorkerLost
    from dgsuite.core import traces as traces
    from dgsuite.core.results.dataframe import to_dataframe as to_dataframe
    from dgsuite.core.results.dataset import open_dataset
    from dgsuite.core.results.dataset import save as save
    from dgsuite.core.results.quality import quality as quality
    from dgsuite.core.running.catalogue import list_kernels as list_kernels
    from dgsuite.core.running.components import components as components
    from dgsuite.core.running.components import pairs as pairs
    from dgsuite.core.running.estimate import estimate as estimate
    from dgsuite.core.running.runner import run as run
    from dgsuite.core.running.runner import run_each as run_each
    from dgsuite.kernels.bsp import Kernel as Kernel
    from dgsuite.partition.graph.graph import Graph as Graph
    from dgsuite.studies import lab as lab
    from dgsuite.studies import scaling as scaling
    from dgsuite.studies import transports as transports
    from dgsuite.studies.chem.scf import hartree_fock as hartree_fock
    from dgsuite.studies.lab.checking import check_kernel as check_kernel
    from dgsuite.studies.network.adversary import Adversary as Adversary
    from dgsuite.studies.network.network import Network as Network
    from dgsuite.studies.network.parts import Byzantine as Byzantine
    from dgsuite.studies.network.parts import Crash as Crash
    from dgsuite.studies.network.parts import Partition as Partition

    open = open_dataset  # noqa: A001, in the manner of xarray


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

HOMES = {
    "base.errors": ("DgsuiteError", "InputError", "NegativeCycle", "RunError", "WorkerLost"),
    "core.results.dataframe": ("to_dataframe",),
    "core.results.dataset": ("save",),
    "core.results.quality": ("quality",),
    "core.running.catalogue": ("list_kernels",),
    "core.running.components": ("components", "pairs"),
    "core.running.estimate": ("estimate",),
    "core.running.runner": ("run", "run_each"),
    "kernels.bsp": ("Kernel",),
    "partition.graph.graph": ("Graph",),
    "studies.chem.scf": ("hartree_fock",),
    "studies.lab.checking": ("check_kernel",),
    "studies.network.adversary": ("Adversary",),
    "studies.network.network": ("Network",),
    "studies.network.parts": ("Byzantine", "Crash", "Partition"),
}
PLACES = placed(__name__, HOMES)
MODULES = ("core.traces", "studies.lab", "studies.scaling", "studies.transports")
PLACES |= {module.rpartition(".")[2]: f"{__name__}.{module}" for module in MODULES}
PLACES["open"] = "dgsuite.core.results.dataset:open_dataset"
__all__ = [*PLACES]
__getattr__, __dir__ = lazy_imports(__name__, PLACES)
