"""Classical distributed algorithms as data-parallel programs on Dask, measured round by round."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dgsuite.chem.scf import hartree_fock
    from dgsuite.dataset import open_dataset as open
    from dgsuite.dataset import save
    from dgsuite.runner import run, run_each
    from dgsuite.views.catalogue import kernels
    from dgsuite.workers.dataframe import to_dataframe
    from kernels.base import Kernel
    from partition.errors import DgsuiteError, InputError, RunError, WorkerLost
    from partition.graph import Graph

__all__ = [
    "DgsuiteError",
    "Graph",
    "InputError",
    "Kernel",
    "RunError",
    "WorkerLost",
    "hartree_fock",
    "kernels",
    "open",
    "run",
    "run_each",
    "save",
    "to_dataframe",
    "traces",
]


def _check_siblings() -> None:
    """Check that `kernels`, `genval` and `partition` are dgsuite's: other projects use these names too."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in ("kernels", "genval", "partition"):
        spec = find_spec(name)
        origin = None if spec is None else spec.origin
        if origin is None or os.path.dirname(os.path.dirname(os.path.abspath(origin))) != here:
            raise ImportError(
                f"dgsuite needs its own package {name!r} from {here}, but Python finds "
                f"{origin or 'none'}; uninstall or rename the package that shadows it"
            )


_check_siblings()

from dgsuite import traces  # noqa: E402, after the check
from partition.lazy import lazy_imports  # noqa: E402
from partition.version import __version__ as __version__  # noqa: E402

if "dask.config" in sys.modules:  # else the first use of a setting loads them
    from partition.client.settings import load

    load()

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "DgsuiteError": "partition.errors.DgsuiteError",
        "Graph": "partition.graph.Graph",
        "InputError": "partition.errors.InputError",
        "Kernel": "kernels.base.Kernel",
        "RunError": "partition.errors.RunError",
        "WorkerLost": "partition.errors.WorkerLost",
        "hartree_fock": "dgsuite.chem.scf.hartree_fock",
        "kernels": "dgsuite.views.catalogue.kernels",
        "open": "dgsuite.dataset.open_dataset",
        "run": "dgsuite.runner.run",
        "run_each": "dgsuite.runner.run_each",
        "save": "dgsuite.dataset.save",
        "to_dataframe": "dgsuite.workers.dataframe.to_dataframe",
    },
)
