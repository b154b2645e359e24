"""The network of a run as a value: which messages it loses, and which nodes crash or lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from numbers import Real
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.warning import warn
from dgsuite.core.engine import network as engine
from dgsuite.core.parameters import LISTED
from dgsuite.core.results.dataset import variable
from dgsuite.core.running.catalogue import takers
from dgsuite.kernels.bsp.kernel import KEEPS_OFFERS, NO_ROUNDS
from dgsuite.kernels.events.channel import Channel
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.studies.network.adversary import ABSENCES, CRASHES, Adversary, Attack, struck
from dgsuite.studies.network.chances import check_weights
from dgsuite.studies.network.delays import SYNCHRONISERS, Delay, virtual_times
from dgsuite.studies.network.faults import Faults
from dgsuite.studies.network.names import is_whole, made, node_ids, probability, whole
from dgsuite.studies.network.parts import READERS, Byzantine, Crash, Partition, crashes_of

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.core.engine.log import Log
    from dgsuite.core.engine.run_spec import RunSpec
    from dgsuite.core.running.options import RunOptions
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.graph.graph import Graph

FAULTS = (
    *("loss", "drops", "crashes", "churn", "partitions", "duplicates", "corruption", "byzantine"),
    *("adversary", "capacity"),
)
"""Parameters that cause faults: a synchroniser has none, but an adversary that spends delays."""

LATE = ("fifo", "gst", "bound")
"""Parameters of messages that arrive late: those of tasks and of event-driven kernels."""

TIMED = (*LATE, "capacity", "drift")
"""Parameters of event-driven kernels; late tasks take those of `LATE` alone."""

SHOWN = 8
"""Items of a list that the text of a network shows."""

ROUNDS = 10_000
"""Rounds after which a run on a network ends, unless `max_rounds` is given."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Network(engine.Network):
    """A network with faults, for ``dgsuite.run(..., network=)``.

    All chance is a function of the seed, the phase, the sender and the receiver: a fault is the same for any
    style, number of clusters, partition, workers and threads.

    Parameters
    ----------
    loss
        Probability that a message is lost: a number, an array with one for each node, in the order of the
        graph's nodes, or "weight", the weight of the edge. A broadcast is a message along each edge of the
        sender.
    omission
        Whose probability counts where there is one for each node: "sending" or "receiving".
    drops
        Messages that are lost for sure: a sequence of triples of round, sender and receiver.
    crashes
        Which nodes crash, and when: the probability that a node crashes in a round, while it sends what the
        first phase has it send (see `crash_by`); a mapping from nodes to rounds; or a sequence of `Crash`. A
        crashed node is cut off: it sends nothing, and nothing reaches it, until it is back. Outputs of nodes
        that are not have the values that they had then, and ``crashed`` the round.
    crash_by
        What a probability of `crashes` counts for. "round": each round, and a node then crashes in its first
        phase. "phase": each phase, and a node crashes in any of them, while it sends.
    churn
        What is away for some rounds: a sequence of (first, end, node) or (first, end, node, neighbour). From
        round `first` to the one before `end` no message arrives from or at the node, or between the two.
        The nodes themselves go on, and are not told.
    partitions
        Groups of nodes that are cut off from all other nodes for some rounds: a sequence of `Partition`, or
        of its parameters, such as (first, end, nodes).
    duplicates
        Probability that a message arrives twice.
    corruption
        Probability that a message arrives with random values in its fields, as a lie of strategy "random".
    byzantine
        A `Byzantine`, or a mapping with its parameters.
    adversary
        An `Adversary`, or a mapping with its parameters; ``spent`` is what it struck, by round.
    delay
        How many ticks a message takes: a whole number, ("uniform", low, high), ("geometric", p), "weight",
        the weight of the edge, or a function of senders, receivers and ticks; see
        `dgsuite.studies.network.delays.Delay`. A synchroniser then runs the rounds: outputs are
        unchanged, and ``virtual_time`` is when they are over. Tasks of a recursive form arrive late, and in
        another order; they take a tick at least. A synchroniser waits for each message, so it goes with no
        faults; an adversary may spend delays. Late tasks and messages of event-driven kernels have delays
        and faults: where faults name rounds, these are ticks.
    fifo, gst, bound
        Of late tasks, and of event-driven kernels, such as "paxos": whether messages between two nodes arrive
        in the order of sending; and the tick from which on a message takes at most `bound` ticks. See
        `dgsuite.kernels.events.channel.Channel`.
    capacity, drift
        Of event-driven kernels: how many messages from one node to another are on their way at most, others
        are lost; and how much clocks drift.
    synchroniser
        "alpha" or "beta", the kernels that work out these times; by default "alpha". Recursive forms have
        none.
    seed
        Key of the faults and delays; by default that of the run.

    Raises
    ------
    InputError
        A value is not one of these.

    Examples
    --------
    A node of a path crashes before it has told anything:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> network = dgsuite.Network(crashes={2: 1})
    >>> ds = dgsuite.run("bfs", graph, network=network)
    >>> ds.level.values, ds.crashed.values
    (array([ 0,  1, -1, -1], dtype=int32), array([-1, -1,  1, -1]))

    One message in ten is lost:

    >>> ds = dgsuite.run("mis", graph, network=dgsuite.Network(loss=0.1, seed=3))
    >>> int(ds.messages.sum()), int(ds.lost.sum())
    (12, 1)
    """

    loss: float | str | ArrayLike = 0.0
    omission: str = "sending"
    drops: Sequence[tuple[int, Any, Any]] = ()
    crashes: float | Mapping[Any, int] | Sequence[Crash | Mapping[str, Any]] = ()
    crash_by: str = "round"
    churn: Sequence[tuple[Any, ...]] = ()
    partitions: Sequence[Partition | Mapping[str, Any] | tuple[Any, ...]] = ()
    duplicates: float = 0.0
    corruption: float = 0.0
    byzantine: Byzantine | Mapping[str, Any] | None = None
    adversary: Adversary | Mapping[str, Any] | None = None
    delay: Any = None
    fifo: bool = False
    capacity: int | None = None
    gst: int | None = None
    bound: int = 1
    drift: float = 0.0
    synchroniser: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        loss = np.asarray(0.0 if self.by_weight else self.loss)
        if loss.dtype.kind not in "iuf" or loss.ndim > 1 or not ((loss >= 0) & (loss <= 1)).all():
            raise InputError(
                f"loss must be a probability from 0 to 1, an array of one for each node, or 'weight', got "
                f"{self.loss!r}"
            )
        one_of("omission", self.omission, ("sending", "receiving"))
        one_of("crash_by", self.crash_by, ("round", "phase"))
        if self.seed is not None and not is_whole(self.seed):
            raise InputError(f"seed of a network must be a whole number, got {self.seed!r}")
        object.__setattr__(self, "byzantine", made(Byzantine, self.byzantine, "byzantine"))
        object.__setattr__(self, "adversary", made(Adversary, self.adversary, "adversary"))
        object.__setattr__(self, "crashes", crashes_of(self.crashes))
        for name, of in READERS.items():
            object.__setattr__(self, name, tuple(map(of, getattr(self, name))))
        for name in ("duplicates", "corruption", "drift"):
            object.__setattr__(self, name, probability(name, getattr(self, name)))
        if not isinstance(self.fifo, bool):
            raise InputError(f"fifo must be True or False, got {self.fifo!r}")
        for name, least in (("gst", 0), ("capacity", 1)):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), least)
        whole("bound", self.bound, 1)
        if self.synchroniser is not None:
            one_of("synchroniser", self.synchroniser, SYNCHRONISERS)
        if self.delay is not None:
            object.__setattr__(self, "delay", Delay.of(self.delay))
        elif self.delayed:
            raise InputError(
                "an adversary that spends 'delays' needs delay=, those of all messages"
            )

    @classmethod
    def of(cls, given: Network | Mapping[str, Any] | None) -> Network | None:
        """The network that a run or an experiment file names.

        Parameters
        ----------
        given
            A network, its parameters, or None.

        Raises
        ------
        InputError
            It is none.
        """
        return made(cls, given, "network")

    @property
    def delayed(self) -> bool:
        """Whether an adversary has messages take longer."""
        return isinstance(self.adversary, Adversary) and self.adversary.delays

    @property
    def has_faults(self) -> bool:
        """Whether it may lose messages, and nodes may crash or lie."""
        return self.delay is None or bool(self._faults)

    @property
    def _faults(self) -> list[str]:
        """Parameters that cause faults, and are given."""
        given = [f for f in FAULTS if (np.any(self.loss) if f == "loss" else getattr(self, f))]
        return [name for name in given if not (name == "adversary" and self.delayed)]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it does, of `dgsuite.kernels.bsp.NETWORKS`: any with faults may lose messages."""
        if not self.has_faults:
            return ("delays",)
        liars = self.byzantine
        spends = self.adversary.spends if isinstance(self.adversary, Adversary) else ""
        there = {
            "loss": True,
            "crashes": bool(self.crashes) or spends == CRASHES,
            "recovery": any(crash.until is not None for crash in self._listed),
            "churn": bool(self.churn or self.partitions) or spends == ABSENCES,
            "liars": self.corruption > 0
            or (isinstance(liars, Byzantine) and liars.strategy != "silent"),
            "duplicates": self.duplicates > 0,
        }
        found = tuple(kind for kind, is_there in there.items() if is_there)
        return found if self.delay is None else (*found, "delays")

    @property
    def _listed(self) -> Sequence[Crash]:
        """Crashes that are named one by one."""
        return () if isinstance(self.crashes, Real) else self.crashes  # type: ignore[return-value]

    @property
    def by_weight(self) -> bool:
        """Whether messages are lost by the weights of edges."""
        return isinstance(self.loss, str) and self.loss == "weight"

    def fitted(self, options: RunOptions, kernel: Kernel) -> Kernel:
        unfit, delayed = kernel.unfit(), self.delayed
        by_events, recursive = isinstance(kernel, EventKernel), kernel.form == "recursive"
        if self.delay is not None and self._faults and not (by_events or recursive):
            raise InputError(
                f"a network has either {self._faults[0]} or delay: a synchroniser waits for each message, "
                f"and an adversary then spends 'delays'; event-driven kernels and recursive forms take both"
            )
        for kind in self.kinds:
            if kind in unfit:
                raise InputError(
                    f"kernel {kernel.name!r} takes no network with {kind}: {unfit[kind]}; kernels that do: "
                    f"{', '.join(takers(kind))}"
                )
        acts, why = self.has_faults or delayed, ""
        takes = TIMED if by_events else LATE if recursive and self.delay is not None else ()
        given = (name for name in TIMED if getattr(self, name) != getattr(Network, name))
        idle = [name for name in given if name not in takes]
        if idle and idle[0] in LATE:
            why = f"{idle[0]} is of event-driven kernels and late tasks alone; leave it out"
        elif idle:
            why = f"{idle[0]} is of event-driven kernels alone; leave it out"
        elif isinstance(self.byzantine, Byzantine) and self.byzantine.adds and not by_events:
            why = "liars add messages in event-driven kernels alone; leave out adds="
        elif by_events and (delayed or self.synchroniser is not None):
            why = "event-driven kernels have no synchroniser; leave out synchroniser= and such an adversary"
        elif recursive and self.adversary is not None:
            why = "an adversary strikes in rounds, which form='recursive' has not; leave out adversary="
        elif recursive and self.synchroniser is not None:
            why = "a synchroniser runs rounds, which form='recursive' has not; leave out synchroniser="
        elif recursive and self.delay is None:
            why = NO_ROUNDS
        elif recursive and (
            self.crash_by == "phase" or any(c.phase or c.until for c in self._listed)
        ):
            why = "nodes with tasks crash at a tick, for good; leave out crash_by=, phase and until"
        elif delayed and "nearer" in kernel.prepares:
            why = KEEPS_OFFERS
        elif acts and options.since is not None:
            why = "a run with since= goes on from a result without faults or an adversary; leave out since="
        elif acts and options.checkpoint is not None:
            why = "a run with faults or an adversary has no checkpoints; leave out checkpoint="
        elif isinstance(self.adversary, Adversary):
            why = self.adversary.unfit(kernel)
        if why:
            raise InputError(
                f"kernel {kernel.name!r}: network= changes messages of nodes, and {why}"
            )
        if not by_events:
            return kernel
        made = copy(kernel)
        object.__setattr__(made, "channel", self.channel)
        return made

    @property
    def channel(self) -> Channel:
        """How messages that arrive late travel."""
        law = {} if self.delay is None else self.delay.parameters
        timed = {name: getattr(self, name) for name in TIMED}
        return Channel(**law, **timed, seed=self.seed)

    def part(self, graph: Graph, kernel: Kernel) -> dict[str, Any]:
        found: dict[str, Any] = {"max_rounds": ROUNDS} if self.has_faults else {}
        if self.has_faults or self.delayed:
            found["faults"] = self.faults(graph)
        if kernel.form == "recursive":
            found["channel"] = None if self.delay is None else self.channel
        return found

    def found(
        self, faults: Faults | None, kernel: Kernel, n: int, log: Log
    ) -> dict[str, tuple[tuple[str, ...], NDArray, str]]:
        if faults is None:
            return {}
        found: dict[str, tuple[tuple[str, ...], NDArray, str]] = {}
        faults = faults.of_run(kernel.seed)
        by_kind = {name: log.by_round(log.noted(f"struck by {name}")) for name in FAULTS}
        if not faults.spares:
            lost = log.by_round(log.noted("lost"))
            when = faults.crashed(n, log.targets(), log["round"])
            ticks = np.array(log.ticks or range(log.rounds), np.int64)
            at = np.searchsorted(ticks, when)  # ticks without tasks are no rounds
            when = np.where(at < log.rounds, np.append(ticks, 0)[at], -1)
            found["lost"] = ("",), lost, "messages along edges that were lost"
            found["crashed"] = ("node",), when, "round or tick of its last crash, -1 for none"
            by_kind["crashes"] = np.bincount(at[when >= 0], minlength=log.rounds)
        if faults.liars is not None:
            found["lies"] = ("node",), faults.lying(n).astype(np.int8), "1 if the node lies"
        if faults.attack is not None:
            spent = np.zeros(log.rounds, np.int64)
            for round_, strikes in struck(faults.attack, log.targets(), faults.seed or 0).items():
                spent[round_] = len(strikes)
            found["spent"] = ("",), spent, "what the adversary struck"
        if not faults.spares:
            table = np.array([by_kind[name] for name in FAULTS])
            text = "messages that faults struck, and nodes that crashed"
            found |= {"fault": (("fault",), np.array(FAULTS), "kind of fault, as the network has it"),
                      "struck": (("fault", ""), table, text)}  # fmt: skip
            self._tell_idle(kernel, dict(zip(FAULTS, table.sum(axis=1).tolist(), strict=True)), log)
        return found

    def _tell_idle(self, kernel: Kernel, times: Mapping[str, int], log: Log) -> None:
        """Say which faults that are listed one by one struck nothing."""
        rounds, idle = log.ticks[-1] + 1 if log.ticks else log.rounds, []
        begins: Mapping[str, Callable[[Any], int]] = {
            "drops": itemgetter(0),
            "crashes": attrgetter("round"),
            "churn": itemgetter(0),
            "partitions": attrgetter("first"),
        }
        for name, begin in begins.items():
            given = getattr(self, name)
            first = [] if isinstance(given, Real) else [begin(one) for one in given]
            if late := [number for number in first if number >= rounds]:
                idle.append(f"{name} from round {late[0]} on, and the run has {rounds}")
            elif first and not times[name]:
                idle.append(f"{name}: no message went along those pairs or nodes in those rounds")
        liars = self.byzantine.nodes if isinstance(self.byzantine, Byzantine) else 0.0
        if not isinstance(liars, Real) and not times["byzantine"]:
            idle.append("byzantine: nodes that lie sent nothing")
        if idle:
            warn(
                f"kernel {kernel.name!r}: faults that struck nothing: {'; '.join(idle)}",
                UserWarning,
            )

    def timed(
        self,
        run: Callable[..., xr.Dataset],
        dataset: xr.Dataset,
        log: Log,
        graph: Graph,
        spec: RunSpec,
        kernel: Kernel,
        **how: Any,
    ) -> xr.Dataset:
        if self.delay is None or spec.channel is not None or isinstance(kernel, EventKernel):
            return dataset
        seed = dataset.attrs["seed"] if self.seed is None else self.seed
        late: ArrayLike = ()
        if isinstance(spec.faults, Faults) and spec.faults.attack is not None:
            late = _late(spec.faults.attack, log)
        synchroniser = self.synchroniser or "alpha"
        found = virtual_times(run, graph, len(log), self.delay, seed, synchroniser, late, **how)
        time = np.zeros(log.rounds, np.int64)
        np.maximum.at(time, log["round"], found.time)
        own = log.by_round(found.messages) - dataset["messages"].values
        return dataset.assign(
            virtual_time=variable("round", time, "tick at which all nodes have ended the round"),
            synchroniser_messages=variable("round", own, "messages beyond those of the algorithm"),
        )

    def faults(self, graph: Graph) -> Faults:
        """What happens to the nodes and messages of a graph.

        Raises
        ------
        InputError
            A node is not one of the graph, or there is not one probability for each node.
        """
        n = graph.n
        loss = np.asarray(0.0 if self.by_weight else self.loss, np.float64)
        if self.by_weight:
            check_weights(graph)
        if loss.ndim and loss.shape != (n,):
            raise InputError(
                f"loss must have a probability for each of {n} nodes, got shape {loss.shape}"
            )
        rate = float(self.crashes) if isinstance(self.crashes, Real) else 0.0
        nodes = node_ids([crash.node for crash in self._listed], graph, "crashes")
        crashes = []
        for node, crash in zip(nodes.tolist(), self._listed, strict=True):
            told = crash.receivers
            if told is not None:
                told = node_ids(told, graph, "receivers of a crash").tolist()
            crashes.append(replace(crash, node=node, receivers=told))
        liars: Any = self.byzantine
        if isinstance(liars, Byzantine) and not isinstance(liars.nodes, float):
            liars = replace(liars, nodes=node_ids(liars.nodes, graph, "byzantine"))
        rounds = np.array([drop[0] for drop in self.drops], np.int64)
        ends = [node_ids([drop[k] for drop in self.drops], graph, "drops", True) for k in (1, 2)]
        by_receiver = self.omission == "receiving"
        drops, churn = np.array([rounds, *ends]), self._churn(graph)
        attack = self.adversary.attack(graph) if isinstance(self.adversary, Adversary) else None
        splits = []
        for one in self.partitions:
            assert isinstance(one, Partition)
            inside = np.zeros(n, bool)
            inside[node_ids(one.nodes, graph, "nodes of a partition")] = True
            splits.append(replace(one, nodes=inside))
        by_phase = rate > 0 and self.crash_by == "phase"
        strikes = attack, self.by_weight, splits, self.duplicates, self.corruption, by_phase
        return Faults(self.seed, loss, by_receiver, drops, churn, crashes, rate, liars, *strikes)

    def _churn(self, graph: Graph) -> NDArray[np.int64]:
        """First round, end, node and neighbour, -1 for all, of what is away: shape (4, absences)."""
        found = np.full((4, len(self.churn)), -1)
        for k, (first, end, *ends) in enumerate(self.churn):
            nodes = node_ids(list(ends), graph, "churn", several=True)
            found[: 2 + len(nodes), k] = first, end, *nodes
        return found

    def described(self) -> str:
        """What is not the default, as JSON: for the attributes of a dataset."""
        return json.dumps({name: _plain(value) for name, value in self._stated()})

    def __repr__(self) -> str:
        stated = []
        for name, value in self._stated():
            many = isinstance(value, list | tuple | np.ndarray) and len(value) > SHOWN
            stated.append(f"{name}=<{len(value)} values>" if many else f"{name}={value!r}")
        return f"Network({', '.join(stated)})"

    def _stated(self) -> Iterator[tuple[str, Any]]:
        """The parameters that are not the defaults."""
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray) or value != f.default:
                yield f.name, value


def _late(attack: Attack, log: Log) -> NDArray[np.int64]:
    """What an adversary has take longer, as the kernels of synchronisers have it: shape (strikes, 4)."""
    strikes = struck(attack, log.targets())
    found = [
        (pulse, node, other, attack.adversary.ticks)
        for pulse, round_ in enumerate(log["round"].tolist())
        for node, other in strikes[round_]
    ]
    return np.array(found, np.int64).reshape(-1, 4)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; of a list with more items than `LISTED`, their number."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Crash | Byzantine | Partition | Adversary | Delay):
        found = {f.name: getattr(value, f.name) for f in fields(value)}
        return {name: _plain(one) for name, one in found.items() if one is not None}
    if isinstance(value, list | tuple | np.ndarray):
        return f"<{len(value)} values>" if len(value) > LISTED else [_plain(one) for one in value]
    return getattr(value, "__name__", repr(value)) if callable(value) else value
