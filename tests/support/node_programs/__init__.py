"""Programs of nodes as textbooks have them, each a class: see `tests.support.node_by_node`."""

from tests.support.node_programs import imsuite, lab

PROGRAMS = {
    "benor": lab.BenOr,
    "bf": imsuite.BF,
    "by": imsuite.Byzantine,
    "dijkstra_scholten": lab.DijkstraScholten,
    "distance_vector": lab.DistanceVector,
    "dp": imsuite.PelegLeader,
    "ds": imsuite.DominatingSet,
    "dst": imsuite.LayeredSearch,
    "echo": lab.Echo,
    "floodmax": lab.FloodMax,
    "floodset": lab.FloodSet,
    "gossip": lab.Gossip,
    "hs": imsuite.HirschbergSinclair,
    "kc": imsuite.KCommittee,
    "lcr": imsuite.LCR,
    "mis": imsuite.MIS,
    "mst": imsuite.SpanningTree,
    "phase_king": lab.PhaseKing,
    "push_sum": lab.PushSum,
    "snapshot": lab.Snapshot,
    "trial_colouring": lab.TrialColouring,
    "vc": imsuite.VertexColouring,
}
"""By the name of the kernel."""
