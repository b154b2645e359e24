"""What a kernel is made of: programs of rounds, phases, and what a phase sends.

A *program* is plain control flow. It yields rounds and gets back the votes of each, reduced over
all clusters. Every worker runs the same program with the same votes, so all take the same turns. A
*phase* is a method ``phase(cluster, state, inbox)`` that changes its own state and returns what to
send: a `unicast`, a `broadcast`, a `known`, a `share`, an `announce` or a `ship`, a `vote`, an `extra`,
or a tuple of these.

Nothing in a kernel knows about processes, tasks, sockets or counters. Kernels import this module alone:
``import kernels.base as bsp``.
"""

from __future__ import annotations

from kernels.inbox import Inbox, Latest, Shared
from kernels.kernel import (
    COUNTS,
    CUT_DEPENDENT,
    FIRST,
    Kernel,
    Node,
    NodeOrNone,
    Output,
    Replicated,
    Weighted,
    no_node,
    wide_identifier,
)
from kernels.messages import (
    Announcement,
    Broadcast,
    Extra,
    Known,
    Note,
    Share,
    Shipment,
    Unicast,
    announce,
    broadcast,
    extra,
    known,
    share,
    ship,
    unicast,
)
from kernels.recursion import Spawn, spawn
from kernels.rounds import Finish, Net, Phase, Program, Round, phase_name, until_quiet
from kernels.state import ClusterState, State, initial, later, no_nodes, node_set, per_node
from kernels.votes import VOTES, Reply, Vote, vote
from partition.cluster import Cluster, Links
from partition.reductions import Reduction
from partition.subset import Subset

__all__ = [
    "COUNTS",
    "CUT_DEPENDENT",
    "FIRST",
    "VOTES",
    "Announcement",
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
    "Net",
    "Node",
    "NodeOrNone",
    "Note",
    "Output",
    "Phase",
    "Program",
    "Reduction",
    "Replicated",
    "Reply",
    "Round",
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
    "broadcast",
    "extra",
    "initial",
    "known",
    "later",
    "no_node",
    "no_nodes",
    "node_set",
    "per_node",
    "phase_name",
    "share",
    "ship",
    "spawn",
    "unicast",
    "until_quiet",
    "vote",
    "wide_identifier",
]
