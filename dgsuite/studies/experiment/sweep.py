"""Running the points of an experiment: clusters, graphs, files of finished points."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import xarray as xr
from distributed import Client

from dgsuite import genval
from dgsuite.base.errors import InputError, RunError
from dgsuite.core.parameters import make_kernel
from dgsuite.core.results import provenance
from dgsuite.core.results.dataset import made_by, open_dataset, save, versions
from dgsuite.core.running.attempt import as_seen
from dgsuite.core.running.runner import run
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels.own import named
from dgsuite.partition.client.installed import fingerprint
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.settings import gathered
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources.edges import BUILDING
from dgsuite.partition.sources.readers import nodes_of
from dgsuite.studies.experiment import namespaces
from dgsuite.studies.experiment.clusters import bound, check_memory, check_protocol, connect, local
from dgsuite.studies.experiment.model import SWEPT, Cluster, Experiment, Point, Throttle
from dgsuite.studies.lab.repeating import repeat
from dgsuite.studies.transports.throttle import limit

logger = logging.getLogger(__name__)

OnPoint = Callable[[int, Point, str], None]
"""Called as a point begins, with its number, the point, and why it is run; "" where it is kept."""

OnRound = Callable[[int], None]
"""Called with the number of rounds so far."""

ENOUGH = 0.5
"""Seconds of a point's runs after which it is not run again, whatever the number of iterations."""

NEW, FORCED = "new", "forced"
"""Why a point is run of which there is no earlier run, and where earlier runs do not count."""

AS_GIVEN = {"style", "form", "clusters", "count_as", "trace", "congest"}
"""What of a point are options of a run by the same names."""

KEPT = 2
"""Graphs that are kept, for kernels that take turns."""

MAX_NODES = 1 << 14
"""Nodes of a graph that is made to see whether its kernel takes it; larger ones take too long."""

DECIDING = {"kernel", "form", "n", "kind", "clusters", "seed", "graph", "params"}
"""What of a point decides whether its kernel takes its graph."""


@dataclass
class Sweep:
    """The points of an experiment and their files.

    Parameters
    ----------
    points
        What to run.
    folder
        Where paths of inputs start.
    store
        Folder of finished points, one NetCDF each, named by what they are and what they were made by:
        code, versions and machine (see `provenance.circumstances`).
    experiment
        Whether to check results, run repeats on fresh workers, and warm up.
    """

    points: Sequence[Point]
    folder: Path
    store: Path
    cluster: Cluster
    experiment: Experiment
    throttle: Throttle | None = None
    _warm: set[tuple] = field(default_factory=set, init=False)

    def stem(self, point: Point) -> str:
        """How the names of a point's files begin: it changes with the point and its input file."""
        identity = point.model_dump(exclude={"checkpoint"})
        for name in ("nodes", "relabel"):  # points have the names that they had before these keys
            if not identity["graph"][name]:
                del identity["graph"][name]
        if point.trials is None:
            del identity["trials"]
        if point.graph.generate is None:
            identity["input"] = _digests(self.folder / point.source()[1])
        if isinstance(nodes := point.graph.nodes, str):
            identity["nodes"] = _digests(self.folder / nodes)
        address = {"protocol", "scheduler"}
        identity |= self.cluster.model_dump(include=address, exclude_none=True)
        e = self.experiment
        if e.fresh or e.warmup or e.iterations > 1:
            identity["care"] = [e.fresh, e.warmup, e.iterations]
        if self.throttle is not None:
            identity["throttle"] = self.throttle.model_dump(exclude={"percent"})
        return _hashed(identity)

    def run(self, *, force: bool = False, on_point: OnPoint, on_round: OnRound) -> list[xr.Dataset]:
        """Run every point that is not finished yet.

        Raises
        ------
        RunError
            A run failed or its result is invalid; what is finished is kept.
        """
        results = []
        with ExitStack() as stack:
            clusters = _Clusters(stack, self.cluster, self.experiment.fresh, self.throttle)
            graphs: dict[Any, Graph] = {}
            for number, asked in enumerate(self.points):
                point = clusters.there(asked)
                stem, now = self.stem(point), clusters.circumstances(point)
                path = self.store / f"{stem}-{_hashed(now)}.nc"
                kept, why = (None, FORCED) if force else self.kept(path, stem, now)
                on_point(number, point, why)
                if kept is not None:
                    results.append(kept)
                    continue
                client, where = clusters.client(point), clusters.where(point)
                what = point.graph.model_dump_json()
                grid = point.clusters if point.kernel == "bfs2d" else None
                key = (what, point.n, point.kind, point.kernel, where, point.seed, grid)
                if key not in graphs:
                    if len(graphs) == KEPT:
                        graphs.pop(next(iter(graphs)))
                    graphs[key] = self.graph(point, client)
                with bound(client, point.hwts), clusters.throttled(point):
                    self.warm_up(point, graphs[key], client, where)
                    dataset = self.one(point, graphs[key], client, on_round, path.stem)
                    self.iterate(dataset, point, graphs[key], client)
                self.store.mkdir(exist_ok=True)
                save(dataset, path)
                results.append(dataset)
        return results

    def kept(self, path: Path, stem: str, now: Mapping[str, str]) -> tuple[xr.Dataset | None, str]:
        """The result of a point that is finished, or None and why it is to be run.

        Parameters
        ----------
        path
            Its file, made in the circumstances of now.
        stem
            How the names of its files begin, whatever the circumstances.
        """
        others = sorted(self.store.glob(f"{stem}-*.nc"), key=lambda file: file.stat().st_mtime)
        if not others:
            return None, NEW
        try:
            dataset = open_dataset(path if path in others else others[-1], checksum=True)
        except InputError as error:
            logger.warning("a finished point is run anew: %s", error)
            return None, "the file of an earlier run cannot be read"
        if changed := provenance.changes(provenance.circumstances(dataset.attrs), now):
            return None, changed
        if self.experiment.validate_results and "valid" not in dataset.attrs:
            return None, "the result of an earlier run was not validated"
        if self.experiment.outputs and "node" not in dataset.dims:
            return None, "the result of an earlier run has no outputs"
        return dataset, ""

    def graph(self, point: Point, client: Client | None) -> Graph:
        """The graph of a point, all there."""
        graph = make_graph(point, self.folder, client)
        if graph.client is not None:
            Watch(graph.client, BUILDING, Session.of(graph.client).workers()).wait(graph.parts)
        return graph

    def warm_up(self, point: Point, graph: Graph, client: Client | None, where: object) -> None:
        """Run a kernel without measuring it, the first time in this form and style on these workers."""
        key = (where, point.kernel, point.form, point.style)
        if key in self._warm or point.trials is not None:
            return
        self._warm.add(key)
        light = point.model_copy(update={"workload": ""})
        for _ in range(self.experiment.warmup):
            self.execute(light, graph, client, lambda rounds: None)

    def iterate(
        self, dataset: xr.Dataset, point: Point, graph: Graph, client: Client | None
    ) -> None:
        """Run a point again, as often as the experiment says: what counts is the mean time."""
        seconds = [float(dataset.attrs["seconds"])]
        while len(seconds) < self.experiment.iterations and sum(seconds) < ENOUGH:
            again = self.execute(point, graph, client, lambda rounds: None)
            seconds.append(float(again.attrs["seconds"]))
        if len(seconds) > 1:
            dataset.attrs["seconds"] = float(np.mean(seconds))
            dataset.attrs["iterations_seconds"] = seconds

    def execute(
        self,
        point: Point,
        graph: Graph,
        client: Client | None,
        on_round: OnRound,
        checkpoint: str | None = None,
    ) -> xr.Dataset:
        """Run a point, perhaps with checkpoints in a folder."""
        how: dict[str, Any] = {
            "seed": point.seed,
            "max_rounds": self.experiment.max_rounds,
            "network": json.loads(point.network or "null"),
            **point.params,
        }
        if point.trials is not None:
            return self.trials(point, graph, point.trials, how)
        with gathered():
            return run(
                point.kernel,
                graph,
                client=client,
                workload=json.loads(point.workload or "null"),
                on_round=on_round,
                checkpoint=checkpoint,
                **point.model_dump(include=AS_GIVEN),
                **how,
            )

    def trials(self, point: Point, graph: Graph, times: int, how: Mapping[str, Any]) -> xr.Dataset:
        """Run a point many times, and check each result."""
        begin = perf_counter()
        check = self.experiment.validate_results
        dataset = repeat(point.kernel, graph, times, validate=check, **how)
        dataset = dataset.drop_vars("seed", errors="ignore")  # that of the point is the first run's
        dataset.coords["repeat"] = "run", np.arange(times)
        seconds = perf_counter() - begin
        dataset.attrs |= {"clusters": 1, "workers": 0, "seconds": seconds, **made_by()}
        return dataset

    def one(
        self, point: Point, graph: Graph, client: Client | None, on_round: OnRound, name: str
    ) -> xr.Dataset:
        """Run a point, and check its result; its checkpoints are in a folder of that name."""
        checkpoint = None if point.checkpoint is None else f"{point.checkpoint}/{name}"
        before, kernel = provenance.moment(), named(point.kernel)
        dataset = self.execute(point, graph, client, on_round, checkpoint)
        if self.experiment.validate_results and kernel.name in VALIDATORS:
            if point.trials is None:
                report = genval.validate(kernel.name, graph, dataset)
                ok, found = report.ok, str(report)
            else:
                right = int(dataset["valid"].sum())
                ok, found = right == point.trials, f"{right} of {point.trials} are valid"
            if not ok and not point.network:
                raise RunError(f"invalid result of {point.describe()}: {found}")
            dataset.attrs["valid"] = int(ok)
        if not self.experiment.outputs:
            tables = {output.dims[0] for output in kernel.outputs.values()}
            dataset = dataset.drop_dims({"node", *tables}, errors="ignore")
        for name in SWEPT:
            value = getattr(point, name)
            if value not in (None, "") and name not in dataset.attrs:
                dataset.attrs[name] = value
        if point.params:
            dataset.attrs["params"] = json.dumps(point.params, sort_keys=True)
        dataset.attrs["threads"] = point.threads
        if self.cluster.scheduler is None:  # workers are on this machine
            dataset.attrs.update(before)
        if self.throttle is not None and point.bandwidth is not None:
            k = self.throttle.processes_per_node
            dataset.attrs["nominal_bandwidth"] = self.throttle.share() * k
            dataset.attrs["processes_per_node"] = k
            dataset.attrs["throttle_means"] = self.throttle.means
        dataset.attrs["oversubscribed"] = int(provenance.oversubscribed(dataset.attrs))
        return dataset


def _hashed(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _digests(path: Path) -> dict[str, str]:
    """Of an input: a file, or the files of a folder."""
    found = {}
    for part in (path, *path.rglob("*")):
        if part.is_file():
            with open(part, "rb") as file:
                name = str(part.relative_to(path))
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def make_graph(point: Point, folder: Path, client: Client | None) -> Graph:
    """The graph that a point names, as its kernel has it dealt; paths of files start at the folder."""
    graph = _source(point, folder, client)
    if point.kernel != "bfs2d":
        return graph
    clusters = point.clusters or (1 if client is None else point.workers)
    return arrange(graph.repartition(clusters, client))


def unsuited(points: Sequence[Point], folder: Path) -> Iterator[str]:
    """Points whose kernels do not take their graphs, and why."""
    looked = {p.model_dump_json(include=DECIDING): p for p in points if (p.n or 0) <= MAX_NODES}
    for point in looked.values():
        try:
            graph = make_graph(point, folder, None)
            as_seen(graph, make_kernel(point.kernel, graph, point.seed, point.params, point.form))
        except InputError as error:
            yield f"{point.describe()}: {error}"


def _source(point: Point, folder: Path, client: Client | None) -> Graph:
    options: dict[str, Any] = {"partition": point.graph.partition, "client": client}
    reader, name = point.source()
    if reader == "generate":
        assert point.n is not None
        return genval.graph(
            name,
            point.n,
            seed=point.seed,
            family=point.graph.family,
            kernel=point.kernel,
            m=point.graph.edges,
            **options,
            **point.graph.options,
        )
    path = folder / name
    if reader == "imsuite":
        return Graph.read_imsuite(path, point.kernel, **options)
    options["duplicates"] = point.graph.duplicates
    if reader == "edge_list":
        if point.graph.nodes is not None:
            options["nodes"] = nodes_of(point.graph.nodes, folder)
        options["relabel"] = point.graph.relabel
        return Graph.read_edge_list(path, **options)
    return Graph.read_matrix_market(path, **options)


class _Clusters:
    """The Dask cluster for a point: one at an address, or our own, kept while points agree on it."""

    def __init__(
        self, stack: ExitStack, config: Cluster, fresh: bool, throttle: Throttle | None
    ) -> None:
        self.config = config
        self.fresh = fresh
        self.throttle = throttle
        self.network: namespaces.Network | None = None
        self.key: Any = None
        self.current: Client | None = None
        self.closing = ExitStack()
        stack.callback(self.closing.close)
        self.size: dict[str, int] = {}
        # what is wrong with the cluster is said before anything runs
        if config.scheduler is None:
            check_memory(config.memory_limit)
            check_protocol(config.protocol)
            if throttle is not None and throttle.means == "tc":
                namespaces.check(throttle.latency)
            return
        self.key = config.scheduler
        self.current = self.closing.enter_context(connect(config.scheduler))
        threads = [worker["nthreads"] for worker in Session.of(self.current).workers().values()]
        self.size = {"workers": len(threads), "threads": min(threads)}

    def there(self, point: Point) -> Point:
        """A point with the workers, and the threads of the least of them, that are at an address."""
        return point if point.style == "serial" else point.model_copy(update=self.size)

    def circumstances(self, point: Point) -> dict[str, str]:
        """What a run of a point is made by now."""
        client = None if point.style == "serial" or not self.size else self.current
        own = {"code": fingerprint(), "versions": versions(), **provenance.machine_of(client)}
        return provenance.circumstances(own)

    def where(self, point: Point) -> Any:
        """What points must agree on to share a cluster."""
        if point.style == "serial":
            return None
        if self.config.scheduler is not None:
            return self.config.scheduler
        return point.workers, point.threads, point.repeat if self.fresh else 0

    def client(self, point: Point) -> Client | None:
        """A client for a point; None for a serial one."""
        if point.style == "serial":
            return None
        key = self.where(point)
        if key != self.key:
            self.closing.close()
            self.key = None
            how = (point.workers, point.threads, self.config.memory_limit, self.config.protocol)
            if self.throttle is not None and self.throttle.means == "tc":
                made = namespaces.cluster(*how)
                self.current, self.network = self.closing.enter_context(made)
            else:
                self.current = self.closing.enter_context(local(*how))
            self.key = key
        return self.current

    @contextmanager
    def throttled(self, point: Point) -> Iterator[None]:
        """Let the workers of a point send no more than it says."""
        client, t = self.client(point), self.throttle
        if client is None or t is None:
            yield
            return
        slow = partial(limit, client) if self.network is None else self.network.limit
        slow(t.share(), point.bandwidth or 100, t.latency, t.scope, "exchange")
        try:
            yield
        finally:
            slow()
