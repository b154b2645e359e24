"""Whether a kernel, and the options of a run, go with a network: checked before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.errors import InputError
from dgsuite.core.running.catalogue import takers
from dgsuite.core.running.options import RunOptions
from dgsuite.kernels.bsp import Kernel
from dgsuite.studies.network.adversary import Adversary

if TYPE_CHECKING:
    from dgsuite.studies.network.network import Network


def check_network(network: Network, options: RunOptions, kernel: Kernel) -> None:
    """Check that a kernel takes the network of a run.

    Raises
    ------
    InputError
        It does not.
    """
    unfit = kernel.unfit()
    for kind in network.kinds:
        if kind in unfit:
            raise InputError(
                f"kernel {kernel.name!r} takes no network with {kind}: {unfit[kind]}; kernels that do: "
                f"{', '.join(takers(kind))}"
            )
    why = ""
    if kernel.form == "recursive" and network.synchroniser is not None:
        why = "a synchroniser runs rounds, which form='recursive' has not; leave out synchroniser="
    elif network.has_faults and options.since is not None:
        why = "a run with since= goes on from a result without faults; leave out since="
    elif network.has_faults and options.checkpoint is not None:
        why = "a run with faults has no checkpoints; leave out checkpoint="
    elif isinstance(network.adversary, Adversary):
        why = network.adversary.unfit(kernel)
    if why:
        raise InputError(f"kernel {kernel.name!r}: network= changes messages of nodes, and {why}")
