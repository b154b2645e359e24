"""Forms that ``faithful=True`` selects, where IMSuite differs from the textbook."""

from dgsuite.kernels.imsuite.bfs_dijkstra import faithful as bfs_dijkstra
from dgsuite.kernels.imsuite.byzantine import faithful as byzantine
from dgsuite.kernels.imsuite.dijkstra_routing import faithful as dijkstra_routing
from dgsuite.kernels.imsuite.dominating_set.faithful import FaithfulDominatingSet
from dgsuite.kernels.imsuite.kcommittee.faithful import FaithfulKCommittee
from dgsuite.kernels.imsuite.leader_dp.faithful import FaithfulPelegLeader
from dgsuite.kernels.imsuite.leader_hs.faithful import FaithfulHirschbergSinclair
from dgsuite.kernels.imsuite.leader_lcr.faithful import FaithfulLCR
from dgsuite.kernels.imsuite.mis.faithful import FaithfulMIS
from dgsuite.kernels.imsuite.spanning_tree import faithful as spanning_tree

FAITHFUL = (
    FaithfulMIS,
    FaithfulDominatingSet,
    FaithfulKCommittee,
    FaithfulPelegLeader,
    FaithfulHirschbergSinclair,
    FaithfulLCR,
    bfs_dijkstra.FaithfulDijkstra,
    bfs_dijkstra.FaithfulRecursiveDijkstra,
    byzantine.FaithfulByzantine,
    byzantine.FaithfulRecursiveByzantine,
    dijkstra_routing.FaithfulDijkstraRouting,
    dijkstra_routing.FaithfulRecursiveDijkstraRouting,
    spanning_tree.FaithfulSpanningTree,
    spanning_tree.FaithfulRecursiveSpanningTree,
)
