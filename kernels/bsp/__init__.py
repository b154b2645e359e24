"""What a kernel is made of: programs of rounds, phases, and what a phase sends.

A *program* is plain control flow. It yields rounds and gets back the votes of each, reduced over
all clusters. Every worker runs the same program with the same votes, so all take the same turns. A
*phase* is a method ``phase(cluster, state, inbox)`` that changes its own state and returns what to
send: a `unicast`, a `broadcast`, a `known`, a `share`, an `announce` or a `ship`, a `vote`, an `extra`,
or a tuple of these.

Nothing in a kernel knows about processes, tasks, sockets or counters. Kernels import this module alone:
``from dgsuite.kernels import bsp``.
"""

from dgsuite.kernels.bsp.inbox import Inbox as Inbox
from dgsuite.kernels.bsp.inbox import Latest as Latest
from dgsuite.kernels.bsp.inbox import Shared as Shared
from dgsuite.kernels.bsp.kernel import ANNOUNCES as ANNOUNCES
from dgsuite.kernels.bsp.kernel import COUNTS as COUNTS
from dgsuite.kernels.bsp.kernel import COUNTS_LINKS as COUNTS_LINKS
from dgsuite.kernels.bsp.kernel import FAULTS as FAULTS
from dgsuite.kernels.bsp.kernel import FIRST as FIRST
from dgsuite.kernels.bsp.kernel import KEEPS_LISTS as KEEPS_LISTS
from dgsuite.kernels.bsp.kernel import NETWORKS as NETWORKS
from dgsuite.kernels.bsp.kernel import READS_LATEST as READS_LATEST
from dgsuite.kernels.bsp.kernel import SHARES_LISTS as SHARES_LISTS
from dgsuite.kernels.bsp.kernel import Kernel as Kernel
from dgsuite.kernels.bsp.kernel import Node as Node
from dgsuite.kernels.bsp.kernel import NodeOrNone as NodeOrNone
from dgsuite.kernels.bsp.kernel import Output as Output
from dgsuite.kernels.bsp.kernel import Pairs as Pairs
from dgsuite.kernels.bsp.kernel import Weighted as Weighted
from dgsuite.kernels.bsp.kernel import by_parameters as by_parameters
from dgsuite.kernels.bsp.kernel import no_faults as no_faults
from dgsuite.kernels.bsp.kernel import no_node as no_node
from dgsuite.kernels.bsp.kernel import wide_identifier as wide_identifier
from dgsuite.kernels.bsp.messages import Announcement as Announcement
from dgsuite.kernels.bsp.messages import Bounds as Bounds
from dgsuite.kernels.bsp.messages import Broadcast as Broadcast
from dgsuite.kernels.bsp.messages import Extra as Extra
from dgsuite.kernels.bsp.messages import Known as Known
from dgsuite.kernels.bsp.messages import Note as Note
from dgsuite.kernels.bsp.messages import Share as Share
from dgsuite.kernels.bsp.messages import Shipment as Shipment
from dgsuite.kernels.bsp.messages import Unicast as Unicast
from dgsuite.kernels.bsp.messages import announce as announce
from dgsuite.kernels.bsp.messages import between as between
from dgsuite.kernels.bsp.messages import broadcast as broadcast
from dgsuite.kernels.bsp.messages import counts as counts
from dgsuite.kernels.bsp.messages import extra as extra
from dgsuite.kernels.bsp.messages import known as known
from dgsuite.kernels.bsp.messages import nodes as nodes
from dgsuite.kernels.bsp.messages import share as share
from dgsuite.kernels.bsp.messages import ship as ship
from dgsuite.kernels.bsp.messages import unicast as unicast
from dgsuite.kernels.bsp.messages import values as values
from dgsuite.kernels.bsp.model import UNLIMITED as UNLIMITED
from dgsuite.kernels.bsp.model import Model as Model
from dgsuite.kernels.bsp.rounds import Finish as Finish
from dgsuite.kernels.bsp.rounds import Net as Net
from dgsuite.kernels.bsp.rounds import Phase as Phase
from dgsuite.kernels.bsp.rounds import Program as Program
from dgsuite.kernels.bsp.rounds import Round as Round
from dgsuite.kernels.bsp.rounds import Sent as Sent
from dgsuite.kernels.bsp.rounds import Spawn as Spawn
from dgsuite.kernels.bsp.rounds import spawn as spawn
from dgsuite.kernels.bsp.rounds import until_quiet as until_quiet
from dgsuite.kernels.bsp.state import NODE as NODE
from dgsuite.kernels.bsp.state import ClusterState as ClusterState
from dgsuite.kernels.bsp.state import NodeIds as NodeIds
from dgsuite.kernels.bsp.state import State as State
from dgsuite.kernels.bsp.state import every_node as every_node
from dgsuite.kernels.bsp.state import initial as initial
from dgsuite.kernels.bsp.state import later as later
from dgsuite.kernels.bsp.state import no_nodes as no_nodes
from dgsuite.kernels.bsp.state import node_dtype as node_dtype
from dgsuite.kernels.bsp.state import node_set as node_set
from dgsuite.kernels.bsp.state import per_node as per_node
from dgsuite.kernels.bsp.state import rows as rows
from dgsuite.kernels.bsp.votes import VOTES as VOTES
from dgsuite.kernels.bsp.votes import Reply as Reply
from dgsuite.kernels.bsp.votes import Vote as Vote
from dgsuite.kernels.bsp.votes import vote as vote
from dgsuite.partition.clusters.cluster import Cluster as Cluster
from dgsuite.partition.clusters.cluster import Links as Links
from dgsuite.partition.clusters.subset import Subset as Subset
