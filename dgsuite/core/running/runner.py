"""Run a kernel on a graph, in a style: `run` and `run_each`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import xarray as xr

from dgsuite.base.errors import InputError
from dgsuite.base.files import check_writable
from dgsuite.base.warning import warn
from dgsuite.core.engine.network import Network
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.workload import Workload
from dgsuite.core.parameters import make_kernel
from dgsuite.core.results import dataset
from dgsuite.core.running import forms
from dgsuite.core.running.attempt import tries
from dgsuite.core.running.checkpointing import checkpoints_of
from dgsuite.core.running.options import RunOptions
from dgsuite.core.running.progress import shown
from dgsuite.core.running.since import Since, going_on
from dgsuite.core.workers.recovery import looked, recovered
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.bsp.kernel import SHIPS
from dgsuite.partition.client.session import check_client, current_client, seceded
from dgsuite.partition.client.tasks import spanned
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    from distributed import Client

OPTIONS = {field.name for field in fields(RunOptions)}
"""Names of the options of a run."""

SMALL = 1 << 12
"""Graphs of up to this many nodes and edge ends together run in this process unless a style is given. The run
takes less than the 40 ms or more to start tasks on workers.
"""


def run(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    *,
    style: str | None = None,
    form: str | None = None,
    clusters: int | None = None,
    client: Client | None = None,
    seed: int | None = None,
    count_as: str | None = None,
    workload: Mapping[str, int] | Workload | None = None,
    on_round: Callable[[int], None] | None = None,
    progress: bool | None = None,
    max_rounds: int | None = None,
    check: bool | None = None,
    trace: bool | str | os.PathLike[str] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    since: xr.Dataset | None = None,
    congest: float | None = None,
    network: Network | Mapping[str, Any] | None = None,
    **parameters: Any,
) -> xr.Dataset:
    """Run a distributed algorithm on a graph and measure it round by round.

    Outputs, rounds and messages are the same for every style, number of clusters, workers and
    threads per worker, with three exceptions. With ``form="recursive"`` in style "finish_async" tasks run in
    the order in which they arrive: the dataset's attribute ``schedule_dependent`` names the variables that
    may differ between runs, if there are any. A few counts of some kernels depend on the clusters (not on
    style, workers or threads), as where clusters send to clusters: the attribute ``cut_dependent`` names
    them. So do rounds and all counts with ``form="block"``.

    Parameters
    ----------
    kernel
        A name from the list below, or what networkx calls the same, such as "connected_components" for
        "wcc"; a `Kernel` class, or an instance of one, whose parameters are the
        defaults of those given here. ``help(dgsuite.list_kernels().pagerank)`` describes a kernel's
        parameters.
    graph
        Graph to run on.
    style
        "serial": in this process. "finish_async": one task per worker and phase; each phase joins its
        tasks and creates new ones. "clocked": one long-lived task per worker, which advances on a barrier.
        "in_turn": as clocked, but one worker computes at a time and waits for each access to another one:
        a serial program whose data is on several workers.
        The default is serial without a client, or if the graph has at most 4096 nodes and edge ends
        together and no workload is given; else clocked. If a small graph is the reason, the attribute
        ``style_reason`` says so, and counts are still those of style clocked (finish_async in recursive
        form).
    form
        "iterative", or "recursive": tasks spawn tasks on the clusters of their
        neighbours. Style "finish_async", then the default on workers, runs a task as soon as it arrives;
        "clocked" and "serial" run all tasks of one depth at a time. Or "block", of "bfs",
        "core_number", "mst", "scc", "sssp", "topological" and "wcc": each cluster works on its own nodes
        until nothing changes there, and only what crosses the border between clusters is sent, so that a
        deep graph cut in few places takes few rounds. Or "block" of "eccentricity": one cluster gathers
        the graph.
        The default is iterative; but "bfs", "topological" and "wcc" run as block on a graph of 65,536 nodes
        or more that a first look finds deep, and "eccentricity" on such graphs and on those of 1,024 nodes
        or more with up to a million edge ends, unless `clusters`, `trace`, `congest`, `network`,
        `checkpoint` or `workload` is given. The attribute ``form_reason`` says what was found.
    clusters
        Number of clusters; by default that of the graph if it was chosen, else one per worker.
    client
        Dask client to run on; by default the current one, if any.
    seed
        64-bit key of the random numbers; by default 101, or that of the instance given as kernel.
    count_as
        Style whose accounting ``comm``, ``mutexes``, ``finishes``, ``asyncs`` and ``barriers``
        follow; by default the style that runs, or would run if the graph were not small.
    workload
        Work added to every task, such as ``{"operations": 1_000_000}``, ``{"cache_bytes": 1 << 20}`` or
        ``{"packets": 4, "bytes": 1500}``: see `dgsuite.core.engine.workload.Workload`. It takes time, and
        changes no output and no count.
    on_round
        Function that is called from time to time with the number of rounds done, in some styles by another
        thread. If it raises an error, the run is given up, and raises that error.
    progress
        Whether to show the progress of a run that takes more than two seconds: rounds, active nodes and
        messages, in a line on standard error, or below the cell of a notebook. By default where a person sees
        it, on a terminal or in a notebook, and `on_round` is not given.
    max_rounds
        Maximum number of rounds, or depths of tasks. A run with more raises an error that names the round
        and its phases. There is no limit by default, since the right number depends on kernel and graph.
    check
        Whether to run the checks for mistakes of a kernel that take time: comparison with NaN, sums beyond
        64 bits, wrong counts of sets of nodes, messages that the kernel's model excludes (`Kernel.obeys`),
        states that share arrays. By default only if Dask's setting ``dgsuite.check`` is true. Every run
        checks votes, dtypes and lists of nodes.
    trace
        Whether to count messages by pair of clusters. With True the dataset gets ``traffic`` and
        ``traffic_bytes``, with dims round (or depth), cluster (the sender) and cluster_to (the receiver).
        With the name of a file, in .nc, the whole trace is written there, phase by phase: see
        `dgsuite.core.traces`. A trace is the same for every style and number of workers; it counts the
        messages of the algorithm, before any are combined, and not those of a workload.
    checkpoint
        Folder, or URL of fsspec, in which the run writes checkpoints, every 10 seconds unless Dask's setting
        ``dgsuite.checkpoint.every`` says otherwise. All workers must see it. A run that was broken off goes
        on from the newest one when it is called again, on any number of workers; and so does
        a run that loses a worker. Outputs, rounds and messages are those of a run that nothing disturbed. At
        its end the checkpoints are removed. There are none for recursive forms, nor in style finish_async.
    since
        An earlier result of the kernel, from which the run goes on: on the same graph, or on one from which
        `graph` has grown by `Graph.with_edges` and `Graph.with_nodes`. "bfs", "core_number", "sssp" and
        "wcc" look at what is new alone, and have the outputs of a run from the start, but for ``parent`` of
        "sssp" where there are several shortest paths. "katz" and "pagerank" iterate from the earlier values
        until they change by less than the tolerance. Rounds and counts are those of what the run did. The
        attribute ``since`` names the earlier graph, and ``since_edges`` counts the edges that are new or have
        another weight.
    congest
        How many times ceil(log2 n) bits an edge may carry in a direction in a phase, as in the CONGEST model
        (Peleg 2000, section 2.3); ``float("inf")`` only counts them. A run in which an edge carries more
        raises an error that names round, phase, field and edge. The dataset gets ``edge_bits``, by round the
        most bits along an edge in a phase, ``edges_by_bits``, how many edges carry how many, and, of kernels
        that obey LOCAL or CONGEST (`Kernel.field_model`), the attribute ``radius``: in how many phases
        messages went along edges, so that information has travelled as many hops at most. Bits are those of
        a field's values (`Kernel.ranges`): a node has ceil(log2 n). Not for recursive forms, nor for kernels
        whose clusters send to clusters.
    network
        A `dgsuite.Network`, or a mapping of its parameters: messages that are lost, nodes that crash or lie,
        or delays, the same for any style, clusters and workers. With faults the dataset gets ``lost``, the
        messages lost by round; ``crashed``, by node the round of its crash, -1 for none; and the attribute
        ``terminated``: 0 if the program had not ended after `max_rounds`, 10,000 by default, which is then no
        error. With delays it gets ``virtual_time`` and ``synchroniser_messages``, by round; in recursive form
        tasks arrive late, a round is a tick in which some run, and ``virtual_time`` the tick. The attribute
        ``network`` says what it was. For kernels that send messages along edges or to given nodes, and with
        delays for recursive forms.
    parameters
        Parameters of the kernel, such as ``root=``. Values in the graph's `attrs` are their defaults. If the
        graph has labels, they name nodes; otherwise node ids do.

    Returns
    -------
    xarray.Dataset
        With dims round (for recursive kernels depth), cluster, node and model; every variable has
        ``long_name`` and ``units``. If the graph has labels, they are the coordinate ``node``, and outputs
        such as ``parent`` hold labels. "No node" is -1 if all labels are integers from 0, "" if all are text,
        otherwise None. If the outputs of a run on workers, or the graph's labels, take more bytes
        than Dask's setting ``dgsuite.gather-limit`` says (4 MiB), both stay there as Dask arrays, with a
        chunk for each cluster; or if the clusters are no blocks of nodes, for each of as many equal blocks.

    Raises
    ------
    InputError
        A kernel, style or parameter is unknown, a parameter has an invalid value, the kernel cannot run on
        the graph, or the client is closed.
    RunError
        The kernel failed, or a worker was lost.

    Notes
    -----
    `dgsuite.list_kernels()` shows the kernels, with a line for each.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("bfs", graph, root=1)
    >>> ds.level.values
    array([1, 0, 1, 2], dtype=int32)
    >>> ds.messages.values
    array([5, 1])
    """
    options = RunOptions(
        style=style,
        form=form,
        clusters=clusters,
        client=client,
        seed=seed,
        count_as=count_as,
        workload=workload,
        on_round=on_round,
        progress=progress,
        max_rounds=max_rounds,
        check=check,
        trace=trace,
        checkpoint=checkpoint,
        since=since,
        congest=congest,
        network=network,  # type: ignore[arg-type]  # or parameters of one
    )
    return _run_each(kernel, graph, [parameters], options)[0]


def run_each(
    kernel: str | type[Kernel] | Kernel, graph: Graph, each: Sequence[Mapping[str, Any]], **how: Any
) -> list[xr.Dataset]:
    """Run an algorithm several times on a graph, with different parameters.

    In style "clocked" all runs use the same tasks, so the scheduler starts them once, which takes tens of
    milliseconds. All outputs are held in memory until the last run is done.

    Parameters
    ----------
    each
        Parameters of each run, such as ``[{"root": 1}, {"root": 2}]``; at least one.
    how
        The options of `run`, such as ``style=`` and ``client=``, and parameters that all runs have.

    Returns
    -------
    A dataset a run, in their order; see `run`.

    Raises
    ------
    InputError, RunError
        As `run` does; no dataset is returned if one of the runs fails.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> runs = dgsuite.run_each("bf", graph, [{"root": 0}, {"root": 3}])
    >>> [ds.distance.values.tolist() for ds in runs]
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    if not isinstance(each, Sequence) or not all(isinstance(own, Mapping) for own in each):
        raise InputError(
            f'each must be a list of mappings, such as [{{"root": 1}}, {{"root": 2}}], got {each!r}'
        )
    if not each:
        raise InputError(
            "each: there must be parameters for at least one run; [{}] takes the defaults"
        )
    options = RunOptions(**{name: how.pop(name) for name in OPTIONS & how.keys()})
    return _run_each(kernel, graph, [{**how, **own} for own in each], options)


def _run_each(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    each: Sequence[Mapping[str, Any]],
    options: RunOptions,
) -> list[xr.Dataset]:
    """Run a kernel with each of some parameters."""
    check_graph(graph)
    style, client, count_as = options.style, options.client, options.count_as
    _check_clients(client, graph)
    client = None if style == "serial" else current_client(client)
    if options.since is not None:
        kernel = going_on(kernel, each, options)

    def look() -> tuple[list[Kernel], str | None, RunSpec]:
        """What depends on the graph."""
        form, reason = forms.chosen(kernel, graph, each, options)
        kernels = [make_kernel(kernel, graph, options.seed, own, form) for own in each]
        return kernels, reason, options.spec(graph, kernels[0])

    kernels, form_reason, spec = looked(look, graph.client, "looking at the graph")
    chosen = kernels[0]
    recursive = chosen.form == "recursive"
    if options.trace_file is not None:
        if len(each) > 1:
            raise InputError(f"trace names one file for {len(each)} runs; take trace=True")
        check_writable(options.trace_file)
    check_congest(options, chosen)
    if options.network is not None:
        kernels = [options.network.fitted(options, made) for made in kernels]
    reasons: dict[str, Any] = {} if form_reason is None else {"form_reason": form_reason}
    since = None
    if options.since is not None:
        since = Since.of(kernels, graph, options.since)
        reasons |= {"since": since.identity, "since_edges": since.edges}
    if style is None:
        style = "serial" if client is None else "finish_async" if recursive else "clocked"
        if style != "serial" and spec.workload is None and _size(graph) <= SMALL:
            count_as = count_as or style
            style = "serial"
            reasons["style_reason"] = "the graph is small; pass style= to choose another style"
    for each_kernel in kernels:
        dataset.check_names(each_kernel, spec.channel is not None)
    checkpoints = checkpoints_of(options.checkpoint, kernels, graph, style, spec)
    if style == "serial":
        client = None
    elif client is None:
        raise InputError(f"style {style!r} needs a Dask client: pass client=, or style='serial'")
    if client is not None and graph.client is not None:
        home = graph.client.scheduler.address  # type: ignore[union-attr]
        if home != client.scheduler.address:  # type: ignore[union-attr]
            raise InputError(
                f"the graph is on another cluster ({home}); build it with the client of the run"
            )
    what = f"{chosen.name}, {style}"
    unit = "depth" if recursive and spec.channel is None else "round"
    traffic = options.trace is True
    with _on(client, chosen), shown(what, unit, options.progress, options.on_round) as tell:
        spec = replace(spec, checkpoints=checkpoints)
        attempt = tries(kernels, graph, style, client, options.clusters, traffic, spec, since, tell)
        tried = recovered(attempt, client or graph.client, f"kernel {chosen.name!r}")
    graph = tried.graph
    results = [
        dataset.build(
            k,
            graph,
            style,
            outputs,
            log,
            count_as=count_as,
            workers=tried.workers,
            reasons=reasons,
            measured_on=tried.machine,
            traffic=traffic,
            network=options.network,
            spec=spec,
        )
        for k, (outputs, log) in zip(kernels, tried.found, strict=True)
    ]
    if options.network is not None:
        how = {"style": style, "client": client, "clusters": options.clusters, "progress": False}
        results = [
            options.network.timed(run, result, log, graph, spec, k, **how)
            for k, result, (_, log) in zip(kernels, results, tried.found, strict=True)
        ]
    if checkpoints is not None:
        checkpoints.remove()
    for k, result, own in zip(kernels, results, each, strict=True):
        if "root" not in own and options.network is None:
            dataset.tell_alone(k, result)
    if options.trace_file is not None:
        from dgsuite.core import traces

        try:
            traces.write(traces.of_run(results[0], tried.found[0][1]), options.trace_file)
        except (InputError, OSError) as error:
            warn(f"trace: {error}; the result is there, and there is no trace", UserWarning)
    return results


@contextmanager
def _on(client: Client | None, kernel: Kernel) -> Iterator[None]:
    """Use a client, if there is one, also within a task of its workers."""
    if client is None:
        yield
        return
    watch = Watch(client, f"kernel {kernel.name!r}")
    with client.as_current(), seceded(), watch.explain_errors(), spanned():
        yield


def check_congest(options: RunOptions, kernel: Kernel) -> None:
    """Check that messages of a kernel go along edges, if the bits of edges are to be counted."""
    if options.congest is None:
        return
    why = ""
    if kernel.obeys.ships:
        why = SHIPS
    elif kernel.form == "recursive":
        why = "tasks of form='recursive' have no rounds; take form='iterative'"
    if why:
        raise InputError(f"kernel {kernel.name!r}: congest= counts bits along edges, and {why}")


def _check_clients(client: Client | None, graph: Graph) -> None:
    """Check that the client and the graph's client can be used."""
    check_client(client)
    if client is not None and client.status != "running":
        raise InputError(f"the client is {client.status}; make a new Client")
    if graph.client is not None and graph.client.status != "running":
        raise InputError(
            f"the client that the graph was built with is {graph.client.status}; make a new Client and "
            f"build the graph again with it"
        )


def _size(graph: Graph) -> int:
    """Nodes and edge ends."""
    return graph.n + sum(graph.entries)
