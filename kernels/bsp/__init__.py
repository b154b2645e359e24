"""What a kernel is made of: programs of rounds, phases, and what a phase sends.

A *program* is plain control flow. It yields rounds and gets back the votes of each, reduced over
all clusters. Every worker runs the same program with the same votes, so all take the same turns. A
*phase* is a method ``phase(cluster, state, inbox)`` that changes its own state and returns what to
send: a `unicast`, a `broadcast`, a `known`, a `share`, an `announce` or a `ship`, a `vote`, an `extra`,
or a tuple of these.

Nothing in a kernel knows about processes, tasks, sockets or counters. Kernels import this module alone:
``from dgsuite.kernels import bsp``.
"""

from __future__ import annotations

from dgsuite.kernels.bsp.inbox import Inbox, Latest, Shared
from dgsuite.kernels.bsp.kernel import (
    ANNOUNCES,
    COUNTS,
    FAULTS,
    FIRST,
    KEEPS_LISTS,
    NETWORKS,
    READS_LATEST,
    SHARES_LISTS,
    Kernel,
    Node,
    NodeOrNone,
    Output,
    Pairs,
    Weighted,
    by_parameters,
    no_faults,
    no_node,
    wide_identifier,
)
from dgsuite.kernels.bsp.messages import (
    Announcement,
    Bounds,
    Broadcast,
    Extra,
    Known,
    Note,
    Share,
    Shipment,
    Unicast,
    announce,
    between,
    broadcast,
    extra,
    known,
    nodes,
    share,
    ship,
    unicast,
    values,
)
from dgsuite.kernels.bsp.model import UNLIMITED, Model
from dgsuite.kernels.bsp.rounds import Finish, Net, Phase, Program, Round, Spawn, spawn, until_quiet
from dgsuite.kernels.bsp.rounds import Sent as Sent
from dgsuite.kernels.bsp.state import (
    NODE,
    ClusterState,
    NodeIds,
    State,
    every_node,
    initial,
    later,
    no_nodes,
    node_dtype,
    node_set,
    per_node,
    rows,
)
from dgsuite.kernels.bsp.votes import VOTES, Reply, Vote, vote
from dgsuite.partition.clusters.cluster import Cluster, Links
from dgsuite.partition.clusters.subset import Subset

__all__ = [
    "ANNOUNCES",
    "COUNTS",
    "FAULTS",
    "FIRST",
    "KEEPS_LISTS",
    "NETWORKS",
    "NODE",
    "READS_LATEST",
    "SHARES_LISTS",
    "UNLIMITED",
    "VOTES",
    "Announcement",
    "Bounds",
    "Broadcast",
    "Cluster",
    "ClusterState",
    "Extra",
    "Finish",
    "Inbox",
    "Kernel",
    "Known",
    "Latest",
    "Links",
    "Model",
    "Net",
    "Node",
    "NodeIds",
    "NodeOrNone",
    "Note",
    "Output",
    "Pairs",
    "Phase",
    "Program",
    "Reply",
    "Round",
    "Sent",
    "Share",
    "Shared",
    "Shipment",
    "Spawn",
    "State",
    "Subset",
    "Unicast",
    "Vote",
    "Weighted",
    "announce",
    "between",
    "broadcast",
    "by_parameters",
    "every_node",
    "extra",
    "initial",
    "known",
    "later",
    "no_faults",
    "no_node",
    "no_nodes",
    "node_dtype",
    "node_set",
    "nodes",
    "per_node",
    "rows",
    "share",
    "ship",
    "spawn",
    "unicast",
    "until_quiet",
    "values",
    "vote",
    "wide_identifier",
]
