"""A reference interpreter: it runs phases node by node, with dictionaries and no vectors."""

from collections import defaultdict
from types import SimpleNamespace

from dgsuite.studies.lab import Execution


class Node(SimpleNamespace):
    """A node: ``id``, ``uid``, ``n``, ``neighbours`` ascending, ``weights`` of edges, and what its program
    keeps there.

    ``round`` is that of the phase. ``messages`` has the messages that arrived, each as its sender and its
    fields, by ascending sender; ``inbox`` the fields of the first one of each sender.
    """

    def to(self, nodes, **fields):
        """A message to each of some nodes."""
        return dict.fromkeys(nodes, fields)

    def to_all(self, **fields):
        """A message to each neighbour."""
        return self.to(self.neighbours, **fields)

    def said(self, name):
        """What the messages of the phase before say."""
        return [fields[name] for _, fields in self.messages]


def assert_node_by_node(program, kernel, graph):
    """Each phase of an execution does what a node's program says: the same messages, and the same states.

    Parameters
    ----------
    program
        A class with a function for each phase, of the kernel, a node and the values of the round. It returns
        by receiver the fields of a message, or of several in a list. `start` makes the state. `states` names
        what is compared.
    """
    execution = Execution(kernel, graph)
    k, net = execution.kernel, graph.to_networkx()
    (cluster,) = graph.repartition(1).gather()
    nodes = [Node(id=v, n=len(net), inbox={}, messages=[]) for v in range(len(net))]
    for v, node in enumerate(nodes):
        node.uid, node.neighbours = int(cluster.uid[v]), sorted(net[v])
        node.weights = {u: edge.get("weight", 1) for u, edge in net[v].items()}
        program.start(k, node)
    for moment in execution.moments():
        phase = getattr(program, moment.step.phase)
        sent = {}
        for node in nodes:
            node.round = moment.step.round
            for to, fields in (phase(k, node, **moment.step.values) or {}).items():
                sent[node.id, to] = fields if isinstance(fields, list) else [fields]
        messages, found = moment.messages, defaultdict(list)
        columns = {name: column.tolist() for name, column in messages.fields.items()}
        ends = zip(messages.sender.tolist(), messages.receiver.tolist(), strict=True)
        for i, pair in enumerate(ends):
            found[pair].append({name: column[i] for name, column in columns.items()})
        assert found == sent, moment.step
        for name in program.states:
            states = [getattr(node, name) for node in nodes]
            assert moment.states[name].tolist() == states, (name, moment.step)
        for node in nodes:
            node.inbox, node.messages = {}, []
        for (sender, receiver), several in sorted(sent.items()):
            nodes[receiver].inbox[sender] = several[0]
            nodes[receiver].messages += [(sender, fields) for fields in several]
