"""Models of distributed computing: what the phases of a kernel may do."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Model(NamedTuple):
    """What the phases of a kernel may do; a checked run refuses the rest.

    Attributes
    ----------
    sends
        Where messages go. "edges": from a node to its neighbours. "nodes": to any node, as in an overlay or
        a congested clique: the sender has the receiver's name. "clusters": also from cluster to cluster,
        which is no algorithm of nodes.
    messages
        Messages along an edge in one direction in a phase, at most; None for any number, such as lists.
    reduces
        What the program reads of the votes, which are a global reduction. "nothing". "control": one bit,
        ``reply.any``, such as whether to go on. "data": numbers.

    Examples
    --------
    Each node sends its neighbours one message, until no cluster votes to go on:

    >>> from dgsuite.kernels import bsp
    >>> bsp.Model("edges", reduces="control")
    Model(sends='edges', messages=1, reduces='control')
    """

    sends: Literal["edges", "nodes", "clusters"]
    messages: int | None = 1
    reduces: Literal["nothing", "control", "data"] = "nothing"

    @property
    def ships(self) -> bool:
        """Whether clusters send to clusters."""
        return self.sends == "clusters"

    def excludes(self, what: str) -> str:
        """What to say of a phase or program that does something else."""
        return f"{what}, and its kernel declares {self}"

    def reads(self, vote: str) -> bool:
        """Whether the program may read a vote of a name such as "any"."""
        return self.reduces == "data" or (self.reduces == "control" and vote == "any")


UNLIMITED = Model("nodes", None, "data")
"""The model of a kernel that declares none: it may do all but send from cluster to cluster."""
