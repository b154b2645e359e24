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


def main() -> None:
    logging.disable(logging.CRITICAL)
    name, n = sys.argv[1], int(sys.argv[2])
    if name == "flooding":
        side = int(n**0.5)
        network = NetworkGenerator.generate_mesh_network(
            a=side, b=side, torus=False, network_type=BidirectionalNetwork
        )
        algorithm = (Flood, {})
    else:
        network = NetworkGenerator.generate_ring_network(n, BidirectionalNetwork)
        algorithm = (LCR, {"uids": [7919 * k % n for k in range(n)]})
    simulation = Simulation(network)
    simulation.algorithms = (algorithm,)
    begin = time.process_time()
    simulation.run(10**9)
    seconds = time.process_time() - begin
    statuses = [str(node.status) for node in network.nodes()]
    done = [s for s in statuses if "DONE" in s or "LEADER" in s]
    if len(done) != (len(statuses) if name == "flooding" else 1):
        raise SystemExit(f"{name}: {len(done)} of {len(statuses)} nodes are done")
    print(seconds)


if __name__ == "__main__":
    main()
