"""Kinds of networks, and which of them a kernel does not take."""

from __future__ import annotations

FAULTS = ("faults", "liars")
"""Kinds of networks with faults: messages are lost, nodes crash, or nodes and edges are away; nodes lie."""

NETWORKS = (*FAULTS, "delays")
"""Kinds of networks: those of `FAULTS`, and messages that take time."""

READS_LATEST = "it reads what neighbours sent last, also where no message came"
SHARES_LISTS = "its nodes share lists, which go whole to each worker"
ANNOUNCES = "it announces to all nodes, which is along no edge"
KEEPS_OFFERS = "it keeps the least offers that came along edges; take 'bf' for shortest paths"
SHIPS = "its clusters send messages to clusters, not nodes to nodes"
BY_CLUSTER = "clusters of form='block' work on their own nodes to the end; take form='iterative'"
NO_ROUNDS = "tasks of form='recursive' have no rounds; take form='iterative'"
"""Why a kernel does not take some kinds."""

UNDECLARED = "leave out network=, and have the kernel say so by refuses = bsp.no_faults(...)"
"""What to do about a kernel that does what a network with faults cannot transfer, and does not say so."""


def no_faults(why: str) -> dict[str, str]:
    """Declare that a kernel takes no network with faults: a value of `Kernel.refuses`.

    Parameters
    ----------
    why
        What it does that such a network cannot do, as a clause.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> refuses = bsp.no_faults("it announces to all nodes, which is along no edge")
    """
    return dict.fromkeys(FAULTS, why)
