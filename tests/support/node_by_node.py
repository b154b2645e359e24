"""A reference interpreter: it runs phases node by node, with dictionaries and no vectors."""

from types import SimpleNamespace

from dgsuite.studies.lab import Execution


class Node(SimpleNamespace):
    """A node: ``id``, ``uid``, ``neighbours`` ascending, ``n``, and what its program keeps there.

    ``round`` is that of the phase, and ``inbox`` has by sender the fields of its message.
    """

    def to_all(self, **fields):
        """A message to each neighbour."""
        return dict.fromkeys(self.neighbours, fields)

    def said(self, name):
        """What the messages of the phase before say, by ascending sender."""
        return [fields[name] for _, fields in sorted(self.inbox.items())]


def assert_node_by_node(program, kernel, graph):
    """Each phase of an execution does what a node's program says: the same messages, and the same states.

    Parameters
    ----------
    program
        A class with a function for each phase, of the kernel, a node and the values of the round, which
        returns by receiver the fields of a message. `start` makes the state. `states` names what is compared.
    """
    execution = Execution(kernel, graph)
    k, net = execution.kernel, graph.to_networkx()
    (cluster,) = graph.repartition(1).gather()
    nodes = [
        Node(id=v, uid=int(cluster.uid[v]), neighbours=sorted(net[v]), n=len(net), inbox={})
        for v in range(len(net))
    ]
    for node in nodes:
        program.start(k, node)
    for moment in execution.moments():
        phase = getattr(program, moment.step.phase)
        sent = {}
        for node in nodes:
            node.round = moment.step.round
            for to, fields in (phase(k, node, **moment.step.values) or {}).items():
                sent[node.id, to] = fields
        messages = moment.messages
        columns = {name: column.tolist() for name, column in messages.fields.items()}
        ends = zip(messages.sender.tolist(), messages.receiver.tolist(), strict=True)
        found = {
            pair: {name: column[i] for name, column in columns.items()}
            for i, pair in enumerate(ends)
        }
        assert len(found) == len(messages)
        assert found == sent, moment.step
        for name in program.states:
            states = [getattr(node, name) for node in nodes]
            assert moment.states[name].tolist() == states, (name, moment.step)
        for node in nodes:
            node.inbox = {}
        for (sender, receiver), fields in sent.items():
            nodes[receiver].inbox[sender] = fields
