"""How IMSuite counts dijkstraRouting."""

from __future__ import annotations

from dataclasses import replace

from dgsuite.core.accounting.rules import Accounting, Spawning, account
from dgsuite.kernels.imsuite.dijkstra_routing.recursive import RecursiveDijkstraRouting
from dgsuite.kernels.imsuite.dijkstra_routing.textbook import DijkstraRouting

# A node that asks for another's list asks for its length first.
RULES = Accounting(launches={"advertise": 0}, comm={"advertise": 2}, mutex={"advertise": 0})
account(DijkstraRouting, RULES)

# A source tries all its neighbours, and goes to those in its tree. A node there goes back to the source
# for each of its children, which the kernel counts, and the source to each that is no leaf.
account(
    RecursiveDijkstraRouting,
    replace(
        RULES,
        spawning={
            "branch": Spawning(asyncs=0, finishes=1),
            "enter": Spawning(comm=0, asyncs=0),
            "visit": Spawning(comm=0),
            "settle": Spawning(asyncs=0, joins=1),
        },
    ),
)
