"""Executions phase by phase, with the state of every node, and with its messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.program import Step, reduce_votes, steps
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.parameters import make_kernel
from dgsuite.core.results import dataset
from dgsuite.core.results.dataset import coordinate, variable
from dgsuite.core.running.attempt import as_seen
from dgsuite.core.running.options import RunOptions
from dgsuite.core.running.runner import OPTIONS, check_congest, run
from dgsuite.kernels.bsp import Broadcast, Kernel, Unicast, Vote
from dgsuite.kernels.bsp.state import lists_of
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.messages import NONE, Messages, listed
from dgsuite.studies.network.disturbed import fate_at
from dgsuite.studies.network.faults import Faults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

States = dict[str, NDArray]
"""What the nodes know, by field: arrays with an entry for each node."""


class Moment(NamedTuple):
    """An execution after one of its phases: see `Execution.moments`.

    Attributes
    ----------
    step
        The phase, with its `round` and its name, `phase`.
    states
        What the nodes know.
    messages
        What the nodes have sent in the phase.
    crashed, away
        By node, whether it has crashed, or is away by the network's `churn`: bool.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> moment = next(dgsuite.lab.Execution("bfs", graph).moments())
    >>> moment.step.phase, len(moment.messages), moment.crashed.tolist()
    ('wake', 1, [False, False, False, False])
    """

    step: Step
    states: States
    messages: Messages
    crashed: NDArray[np.bool_]
    away: NDArray[np.bool_]


class Execution:
    """A run that is repeated phase by phase in this process, with the state of every node.

    Any run can be: in every style and on any workers it goes through the same states.

    Parameters
    ----------
    kernel, graph
        As of `dgsuite.run`; the kernel's form is the iterative one.
    how
        Parameters of the kernel, and of the options of `dgsuite.run` ``seed``, ``network``, ``max_rounds``
        and ``congest``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> states = dgsuite.lab.Execution("bfs", graph, root=1).states(round=0)
    >>> states.level.values
    array([ 1,  0,  1, -1], dtype=int32)
    """

    def __init__(self, kernel: str | type[Kernel] | Kernel, graph: Graph, **how: Any) -> None:
        wrong = sorted(how.keys() & OPTIONS - {"seed", "network", "max_rounds", "congest"})
        if wrong:
            raise InputError(
                f"{wrong[0]} is no option of an execution; it has seed, network, max_rounds, congest and "
                f"the parameters of the kernel"
            )
        options = RunOptions(**{name: how.pop(name) for name in OPTIONS & how.keys()})
        self.kernel = make_kernel(kernel, graph, options.seed, how, "iterative")
        check_congest(options, self.kernel)
        if options.network is not None:
            self.kernel = options.network.fitted(options, self.kernel)
        self.graph = graph
        self.spec = options.spec(graph, self.kernel)
        self.network = options.network
        self._site: Site | None = None
        self._is_over = False
        (self._cluster,) = as_seen(graph, self.kernel).repartition(1).gather()

    def __repr__(self) -> str:
        return f"Execution({self.kernel.name!r}, {self.graph!r})"

    def initial(self) -> States:
        """What the nodes know before the first phase.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.lab.Execution("bfs", graph).initial()["level"]
        array([ 0, -1, -1, -1], dtype=int32)
        """
        return _flat(self.kernel.first_state(self._cluster), self.graph.n, self.lists())

    def liars(self) -> NDArray[np.bool_]:
        """By node, whether it lies.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> network = dgsuite.Network(byzantine=dgsuite.Byzantine([2]))
        >>> dgsuite.lab.Execution("bf", graph, network=network).liars()
        array([False, False,  True, False])
        """
        faults = self.spec.faults
        if not isinstance(faults, Faults):
            return np.zeros(self.graph.n, bool)
        return faults.of_run(self.kernel.seed).lying(self.graph.n)

    def phases(self) -> Iterator[tuple[Step, States]]:
        """Each phase, and what the nodes know after it.

        Yields
        ------
        The phase, with its `round` and its name, `phase`. The arrays are those of the run: copy what is to be
        kept.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> for step, states in dgsuite.lab.Execution("bfs", graph).phases():
        ...     print(step.round, step.phase, states["level"])
        0 wake [ 0 -1 -1 -1]
        0 visit [ 0  1 -1 -1]
        1 visit [ 0  1  2 -1]
        2 visit [0 1 2 3]
        """
        for moment in self._moments(self.spec, with_messages=False):
            yield moment.step, moment.states

    def moments(self) -> Iterator[Moment]:
        """Each phase with what the nodes know after it, its messages one by one, and who has crashed.

        A crashed node knows what it knew when it crashed.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> network = dgsuite.Network(crashes={2: 1})
        >>> for moment in dgsuite.lab.Execution("bfs", graph, network=network).moments():
        ...     sent = zip(moment.messages.sender, moment.messages.receiver)
        ...     print(moment.step.round, [f"{u} to {v}" for u, v in sent], moment.crashed)
        0 ['0 to 1'] [False False False False]
        0 ['1 to 0', '1 to 2'] [False False False False]
        1 [] [False False  True False]
        2 [] [False False  True False]
        """
        return self._moments(replace(self.spec, trace=True), with_messages=True)

    def _moments(self, spec: RunSpec, with_messages: bool) -> Iterator[Moment]:
        bounds, votes = np.array([0, 1]), list[Vote]()
        lists = self.lists()
        site = self._site = Site(self.kernel, [self._cluster], bounds, 0, spec)
        site.keeps, self._is_over = True, False
        nobody = np.zeros(self.graph.n, bool)
        before = self.initial() if with_messages else {}

        def reply(over: Sequence[Vote]) -> Callable[[], Vote]:
            reduced = reduce_votes([*over, *votes])
            votes.clear()
            return lambda: reduced

        for step in steps(self.kernel, self.graph.n, reply, *spec.limits):
            result = site.run(step, 0)
            sent = listed(site, step, result) if with_messages else NONE
            begin = perf_counter()
            site.send(step, [result])
            votes.append(site.tally.vote)
            site.deliver({})
            exchange = perf_counter() - begin
            site.log.add(step, site.tally, site.compute, site.cpu, exchange)
            site.log.seconds += site.compute[0] + exchange
            states = _flat(site.states[0], self._cluster.size, lists)
            fate = fate_at(site)
            away = nobody if fate is None else fate.away
            crashed = nobody if fate is None else fate.dead & ~away
            if with_messages:
                falling = nobody if fate is None or fate.falling is None else fate.falling
                states = before = _stopped(states, before, crashed & ~falling)
            yield Moment(step, states, sent, crashed, away)
        self._is_over = True

    def lists(self) -> Mapping[str, bool]:
        """Fields of the state whose length changes, and whether they are lists of nodes."""
        state = getattr(self.kernel, "state", None)
        return {} if state is None else lists_of(state)

    def senders(self) -> NDArray[np.bool_]:
        """Which nodes that had not crashed sent or broadcast anything in the last phase gone through."""
        found = np.zeros(self.graph.n, bool)
        (result,) = (None,) if self._site is None else self._site.returned
        for item in result if type(result) is tuple else (result,):
            if isinstance(item, Broadcast | Unicast):
                nodes = item.nodes if isinstance(item, Broadcast) else item.src
                found[slice(None) if nodes is None else nodes] = True
        return found

    def waiting(self) -> NDArray[np.bool_]:
        """Which nodes of an event-driven kernel wait for a message or a timer after the last phase."""
        assert isinstance(self.kernel, EventKernel)
        assert self._site is not None
        return self.kernel.waiting(self._site.states[0])

    def struck(self) -> int:
        """How many messages faults have struck."""
        disturbed = None if self._site is None else self._site.disturbed
        notes = {} if disturbed is None else disturbed.notes()
        return sum(sum(column) for name, column in notes.items() if name != "lost")

    def outputs(self) -> dict[str, NDArray]:
        """The kernel's outputs after the last phase that `phases` has gone through, by name; of crashed nodes
        those that they had then. There are none before the first phase.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> execution = dgsuite.lab.Execution("bfs", graph)
        >>> steps = [step for step, _ in execution.phases()]
        >>> execution.outputs()["level"]
        array([0, 1, 2, 3], dtype=int32)
        """
        return {} if self._site is None else self._site.outputs()

    def dataset(self) -> xr.Dataset:
        """The dataset of the execution, as `dgsuite.run` returns it in style "serial" on one cluster, once
        `phases`, `moments` or `to_html` has gone through all phases.

        Raises
        ------
        InputError
            There are phases left.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> execution = dgsuite.lab.Execution("bfs", graph)
        >>> moments = list(execution.moments())
        >>> execution.dataset().level.values
        array([0, 1, 2, 3], dtype=int32)
        """
        site, network = self._site, self.network
        if site is None or not self._is_over:
            raise InputError("the execution has phases left; go through moments() first")
        graph, found = self.graph.repartition(1), (site.outputs(), site.log)
        made = dataset.build(self.kernel, graph, "serial", *found, network=network, spec=self.spec)
        if network is None:
            return made
        how = {"style": "serial", "progress": False}
        return network.timed(run, made, site.log, graph, self.spec, self.kernel, **how)

    def states(self, round: int, phase: str | None = None) -> xr.Dataset:
        """What the nodes know after a phase.

        Parameters
        ----------
        round
            From 0.
        phase
            Name of a phase of that round; by default the last one.

        Raises
        ------
        InputError
            The run has no such phase.
        """
        found, last = None, -1
        for step, states in self.phases():
            if step.round > round:
                break
            last = step.round
            if step.round == round and phase in (None, step.phase):
                found = {name: values.copy() for name, values in states.items()}
        if found is None:
            which = f"round {round}" if phase is None else f"phase {phase!r} of round {round}"
            raise InputError(f"there is no {which}; the last round looked at is {last}")
        dims = ("node", *(f"item_{k}" for k in range(9)))
        nodes = np.arange(self.graph.n) if self.graph.labels is None else self.graph.labels.array
        made = {
            name: variable(dims[: values.ndim], values, f"{name}, of the kernel's state")
            for name, values in found.items()
        }
        return xr.Dataset(made, {"node": coordinate("node", nodes, "node")[1]})

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that shows the execution of a graph of up to 300 nodes.

        One slider goes from phase to phase, another through the messages of a phase. Colours of nodes are
        values of a field of the state. Messages that are lost and nodes that have crashed are crossed out.
        The page needs nothing else, and no network.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            The graph is too large, the execution has more than 200,000 messages and states of nodes, or the
            file cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.lab.Execution("bfs", graph).to_html("bfs.html")
        >>> Path("bfs.html").read_text()[:15]
        '<!doctype html>'
        """
        from dgsuite.studies.lab.page import write

        write(self, path)

    def draw(self, field: str | None = None, rounds: Sequence[int] | None = None) -> Figure:
        """Draw the graph once for each round, with the nodes in the colours of what they know after it.

        Up to 40 nodes the values stand on them. Nodes that have crashed or are away are crossed out.

        Parameters
        ----------
        field
            A field of the kernel's state; by default an output that changes, else the first field that does.
        rounds
            The rounds to draw; by default up to eight, from before the first to the last.

        Returns
        -------
        matplotlib.figure.Figure
            Save it with ``savefig``.

        Raises
        ------
        InputError
            There is no such field or round, or as for `space_time`.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> figure = dgsuite.lab.Execution("bfs", graph).draw()
        >>> [ax.get_title() for ax in figure.axes]
        ['before', 'round 0', 'round 1', 'round 2']
        """
        from dgsuite.studies.lab.pictures import states

        return states(self, field, rounds)

    def space_time(self, after: tuple[int, int] | None = None) -> Figure:
        """Draw the execution as Lamport does: a line for each node, and messages from line to line.

        Time goes to the right, phase by phase. A line ends where its node crashes, with a cross, and is
        dotted while it is away. A message that is lost ends on its way, with a cross. Where there
        are few messages, what each says is written beside it.

        Parameters
        ----------
        after
            A node and the number of a phase, from 0. All that the node's phase may have influenced is marked:
            what it happened before, as Lamport (1978) defines it.

        Returns
        -------
        matplotlib.figure.Figure
            Save it with ``savefig``.

        Raises
        ------
        InputError
            The graph has more than 300 nodes, or the execution more than 200,000 messages and states of
            nodes; or there is no such node or phase.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> figure = dgsuite.lab.Execution("bfs", graph).space_time()
        >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
        ['wake', 'visit', 'visit', 'visit']
        """
        from dgsuite.studies.lab.pictures import space_time

        return space_time(self, after)


def _stopped(states: States, before: States, still: NDArray[np.bool_]) -> States:
    """Copies of what nodes know, in which some know what they did before."""
    found = {name: values.copy() for name, values in states.items()}
    for name in found.keys() & before.keys():
        if found[name].shape == before[name].shape:
            found[name][still] = before[name][still]
    return found


def _flat(state: Any, size: int, lists: Mapping[str, bool], before: str = "") -> States:
    """The arrays of a state that have an entry for each node; sets and lists of nodes as masks."""
    found: States = {}
    for name, value in vars(state).items():
        if isinstance(value, Subset):
            found[before + name] = value.mask
        elif name in lists:
            if lists[name]:
                found[before + name] = np.zeros(size, bool)
                found[before + name][value] = True
        elif isinstance(value, np.ndarray) and value.shape[:1] == (size,):
            found[before + name] = value
        elif not before and hasattr(value, "__dict__"):
            found |= _flat(value, size, {}, before=f"{name}.")
    return found
