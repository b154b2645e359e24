"""`dgsuite.check_kernel`: kernels that keep their promises pass, and each broken promise is named."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import dgsuite
from dgsuite import RunError, genval
from dgsuite.kernels import KERNELS, bsp
from dgsuite.partition.clusters.grid import arrange

GIVEN = {
    "bfs2d": {"graphs": {"a grid": lambda **how: arrange(genval.graph("spmax", 20, clusters=4))}},
    "eigenvector": {"iterations": 20},
    "floodset": {"f": 20},
    "katz": {"alpha": 0.001},
    "neighbourhood": {"sources": [0]},
    "sample": {"sources": [0], "fanouts": [2]},
}
"""Where the defaults are not for these graphs."""


@pytest.mark.few(4)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_keep_their_promises(name):
    checks = dgsuite.check_kernel(name, **GIVEN.get(name, {}))
    assert len(checks) > 10
    assert not any(check.error for check in checks)


def test_styles_are_checked_with_a_client(client):
    checks = dgsuite.check_kernel("bf", client=client)
    assert "is the same in every style" in {check.promise for check in checks}


@dataclass(eq=False)
class State(bsp.ClusterState):
    least: NDArray[np.int64] = bsp.per_node(-1)


@dataclass(frozen=True)
class Least(bsp.Kernel):
    """The smallest neighbour of each node; or in some way wrong."""

    wrong: str = ""

    name: ClassVar = "least"
    outputs: ClassVar = {"least": bsp.Output("smallest neighbour", nodes=True)}
    fields: ClassVar = {"id": bsp.NODE}
    ranges: ClassVar = {"id": bsp.nodes}
    state: ClassVar = State
    obeys: ClassVar = bsp.Model("edges")
    undirected: ClassVar = False
    pulls: ClassVar = True

    def program(self, net):
        yield bsp.Round(self.send, self.read)

    def send(self, c, s, inbox):
        if self.wrong == "beyond":
            return bsp.unicast((c.ids + 2) % c.n, id=c.ids)
        return bsp.broadcast(id=c.ids)

    def read(self, c, s, inbox):
        nodes, least = inbox.min("id")
        s.least[nodes] = c.first if self.wrong == "cut" else least
        if self.wrong == "chance":
            s.least[nodes] = np.random.default_rng().permutation(c.n)[: len(nodes)]


@dataclass(frozen=True)
class Undeclared(Least):
    obeys: ClassVar = bsp.UNLIMITED


@dataclass(frozen=True)
class Fragile(Least):
    """Takes for granted that every neighbour sends."""

    undirected: ClassVar = True

    def read(self, c, s, inbox):
        nodes, _, _ = inbox.count()
        if len(nodes) != np.count_nonzero(c.degree):
            raise ZeroDivisionError("a message is missing")
        super().read(c, s, inbox)


@dataclass(frozen=True)
class Lax(Least):
    """Takes any value of a parameter."""

    wrong: object = ""


BROKEN = [
    (Undeclared(), "it declares its model"),
    (Least(wrong="beyond"), "it runs: .*which is no neighbour"),
    (Least(wrong="cut"), "it is the same for any clusters: 'least' at node"),
    (Least(wrong="chance"), "it is the same again: 'least' at node"),
    (Fragile(), "it ends on networks with faults: .*a message is missing"),
    (Lax(), "it refuses wrong parameters by an InputError: 'wrong'"),
]


@pytest.mark.parametrize(("kernel", "message"), BROKEN)
def test_broken_promises_are_named(kernel, message):
    with pytest.raises(RunError, match=f"^kernel 'least', on graph .*: not true that {message}"):
        dgsuite.check_kernel(kernel)
    assert any(check.error for check in dgsuite.check_kernel(kernel, on_fail="return"))


def test_a_right_kernel_passes():
    assert not any(check.error for check in dgsuite.check_kernel(Least))
