"""Whether a kernel, and the options of a run, go with a network: checked before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.errors import InputError
from dgsuite.core.running.catalogue import takers
from dgsuite.core.running.options import RunOptions
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.bsp.kernel import KEEPS_OFFERS
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
    why = _why_not(options, network, kernel)
    if why:
        raise InputError(f"kernel {kernel.name!r}: network= changes messages of nodes, and {why}")


def _why_not(options: RunOptions, network: Network, kernel: Kernel) -> str:
    """What of a run goes with no network such as this one; empty if all does."""
    acts = network.has_faults or network.delayed
    if kernel.form == "recursive":
        if network.delayed:
            return "an adversary strikes in rounds, which form='recursive' has not; leave out adversary="
        if network.synchroniser is not None:
            return "a synchroniser runs rounds, which form='recursive' has not; leave out synchroniser="
    if network.delayed and "nearer" in kernel.prepares:
        return KEEPS_OFFERS
    if acts and options.since is not None:
        return "a run with since= goes on from a result without faults or an adversary; leave out since="
    if acts and options.checkpoint is not None:
        return "a run with faults or an adversary has no checkpoints; leave out checkpoint="
    return network.adversary.unfit(kernel) if isinstance(network.adversary, Adversary) else ""
