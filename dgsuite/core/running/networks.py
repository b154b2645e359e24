"""Which kernels take which networks: checked before a run, and listed for people."""

from __future__ import annotations

from dgsuite.base.errors import InputError
from dgsuite.core.network.adversary import Adversary
from dgsuite.core.network.network import Network
from dgsuite.core.running.options import RunOptions
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import NETWORKS, Kernel, Weighted


def check_network(options: RunOptions, kernel: Kernel) -> None:
    """Check that a kernel takes the network of a run.

    Raises
    ------
    InputError
        It does not.
    """
    network = options.network
    if not isinstance(network, Network):
        return
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


def takers(kind: str) -> list[str]:
    """Kernels that take networks of a kind, by name; of `NETWORKS`."""
    return [name for name in sorted(KERNELS) if kind not in KERNELS[name]().unfit()]


def networks_of(kernel: type[Kernel]) -> str:
    """The kinds of networks that a kernel takes, for people."""
    taken = kinds_of(kernel())
    if not issubclass(kernel, Weighted):
        return ", ".join(taken) or "none"
    weighted = kinds_of(kernel(weighted=True))
    with_weights = "" if weighted == taken else f"; with weights {', '.join(weighted) or 'none'}"
    return (", ".join(taken) or "none") + with_weights


def kinds_of(kernel: Kernel) -> list[str]:
    """The kinds of networks that a kernel takes."""
    unfit = kernel.unfit()
    return [kind for kind in NETWORKS if kind not in unfit]
