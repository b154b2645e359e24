"""Flooding and leader election in PyDistSim, which needs an environment of its own: see simulators.py.

python benchmarks/simulators_peer.py NAME N

It prints the processor seconds of the simulation, without those of making the network.
"""

import logging
import sys
import time

from pydistsim.algorithm.node_algorithm import NodeAlgorithm, StatusValues
from pydistsim.demo_algorithms.broadcast import Flood
from pydistsim.message import Message
from pydistsim.network.generator import NetworkGenerator
from pydistsim.network.network import BidirectionalNetwork
from pydistsim.simulation import Simulation


class LCR(NodeAlgorithm):
    """Leader election on a ring (Le Lann, Chang and Roberts): the largest identifier comes round."""

    class Status(StatusValues):
        READY = "READY"
        LEADER = "LEADER"

    S_init = (Status.READY,)
    S_term = (Status.READY, Status.LEADER)
    default_params = {"uids": ()}
    algorithm_restrictions = ()

    def initializer(self):
        ring = self.network.nodes_sorted()
        for k, node in enumerate(ring):
            node.status = self.Status.READY
            node.memory["uid"] = self.uids[k]
            node.memory["next"] = ring[(k + 1) % len(ring)]
            node.push_to_inbox(Message(meta_header=NodeAlgorithm.INI, destination=node))

    def pass_on(self, node, uid):
        self.send(node, data=uid, destination=[node.memory["next"]], header="Uid")

    @Status.READY
    def spontaneously(self, node, message):
        self.pass_on(node, node.memory["uid"])

    @Status.READY
    def receiving(self, node, message):
        if message.data > node.memory["uid"]:
            self.pass_on(node, message.data)
        elif message.data == node.memory["uid"]:
            node.status = self.Status.LEADER


class FloodMax(NodeAlgorithm):
    """Leader election by flooding: a node tells all others what is larger than all that it has seen."""

    class Status(StatusValues):
        READY = "READY"

    S_init = S_term = (Status.READY,)
    default_params = {"uids": ()}
    algorithm_restrictions = ()

    def initializer(self):
        for uid, node in zip(self.uids, self.network.nodes_sorted(), strict=True):
            node.status = self.Status.READY
            node.memory["leader"] = uid
            node.push_to_inbox(Message(meta_header=NodeAlgorithm.INI, destination=node))

    @Status.READY
    def spontaneously(self, node, message):
        self.tell(node)

    @Status.READY
    def receiving(self, node, message):
        if message.data > node.memory["leader"]:
            node.memory["leader"] = message.data
            self.tell(node)

    def tell(self, node):
        others = list(node.neighbors())
        self.send(node, data=node.memory["leader"], destination=others, header="Leader")


def main() -> None:
    logging.disable(logging.CRITICAL)
    name, n = sys.argv[1], int(sys.argv[2])
    side = int(n**0.5)
    if name == "election on a ring":
        network = NetworkGenerator.generate_ring_network(n, BidirectionalNetwork)
    else:
        n = side * side
        network = NetworkGenerator.generate_mesh_network(
            a=side, b=side, torus=False, network_type=BidirectionalNetwork
        )
    uids = [7919 * k % n for k in range(n)]
    algorithm = {
        "flooding": (Flood, {}),
        "election": (FloodMax, {"uids": uids}),
        "election on a ring": (LCR, {"uids": uids}),
    }[name]
    simulation = Simulation(network)
    simulation.algorithms = (algorithm,)
    begin = time.process_time()
    simulation.run(10**9)
    seconds = time.process_time() - begin
    if name == "election":
        done = [node.memory["leader"] == n - 1 for node in network.nodes()]
    else:
        statuses = [str(node.status) for node in network.nodes()]
        done = ["DONE" in status or "LEADER" in status for status in statuses]
    if sum(done) != (1 if name == "election on a ring" else len(done)):
        raise SystemExit(f"{name}: {sum(done)} of {len(done)} nodes are done")
    print(seconds)


if __name__ == "__main__":
    main()
