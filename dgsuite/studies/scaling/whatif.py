"""What if: the time of a program on a machine that is not there, from counted traffic.

A bulk-synchronous cost model (Valiant 1990): each exchange takes what the busiest cluster computes, what the
busiest link carries, and a barrier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import scipy.optimize
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.studies.scaling.terms import points


@dataclass(frozen=True)
class Machine:
    """What an exchange costs on a machine besides bandwidth and latency.

    Attributes
    ----------
    compute
        Time to compute, over that of the run that was traced.
    exchange
        Seconds an exchange takes at least.
    partner
        Seconds a cluster takes for each message to another.
    byte
        Seconds to pack and unpack a byte.
    header
        Bytes that a message has besides its content.
    barrier
        Whom a cluster tells that it is done: "all" others, as `clocked` does, or a "tree".
    errors
        Of runs that were held out of the calibration: abs(log(measured / predicted)).

    Examples
    --------
    >>> from dgsuite.studies.scaling import Machine
    >>> machine = Machine(exchange=1e-4, errors=tuple(k / 100 for k in range(20)))
    >>> round(machine.factor(0.9), 3), machine.factor(0.99)
    (1.197, inf)
    """

    compute: float = 1.0
    exchange: float = 0.0
    partner: float = 0.0
    byte: float = 0.0
    header: float = 141
    barrier: Literal["all", "tree"] = "tree"
    errors: tuple[float, ...] = ()

    def factor(self, level: float = 0.95) -> float:
        """By what factor the time of a further run is off at most, with a probability of `level`.

        Split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani, Wasserman: Distribution-Free Predictive
        Inference for Regression, JASA 2018): of k errors at runs that were held out, the
        ceil((k + 1) level)-th smallest. That covers a further run which could as well have been one of
        them: on numbers of clusters beyond theirs nothing is guaranteed. Infinite where k is too small
        for the level.
        """
        if not 0 < level < 1:
            raise InputError(f"level must be between 0 and 1, got {level}")
        rank = math.ceil((len(self.errors) + 1) * level * (1 - 1e-12))
        return math.inf if rank > len(self.errors) else math.exp(sorted(self.errors)[rank - 1])


def what_if(
    dataset: xr.Dataset,
    clusters: ArrayLike | None = None,
    bandwidth: ArrayLike = 1.25e9,
    latency: ArrayLike = 1e-5,
    machine: Machine | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Completion time on machines of given size, bandwidth and latency.

    Parameters
    ----------
    dataset
        Of `trace` or `from_trace`.
    clusters
        Numbers of clusters, one a machine, among those that were traced; by default all.
    bandwidth
        Of each machine's link, bytes a second, in each direction; one or several.
    latency
        Of a message, seconds; one or several.
    machine
        What else an exchange costs; `calibrate` finds it from measured runs.
    level
        Of the interval, where the machine has errors of runs held out; see `Machine.factor`.

    Returns
    -------
    xarray.Dataset
        With dims clusters, bandwidth and latency (those given as one number are dropped): ``seconds``,
        its parts ``compute``, ``transfer`` and ``barrier``, and where the machine has errors the ends
        ``low`` and ``high`` of the interval of a further run, 0 and infinite where they are too few.

    Raises
    ------
    InputError
        A value that cannot be, or clusters that were not traced.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.scaling import trace, what_if
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> found = what_if(trace("bfs", graph, clusters=[2, 4]), bandwidth=[1e9, 1e8], latency=1e-3)
    >>> found.barrier.sel(clusters=4).values
    array([0.008, 0.008])
    """
    machine = machine or Machine()
    part = _traced(dataset, clusters)
    rate = xr.DataArray(points(bandwidth, "bandwidth"), dims="bandwidth")
    delays = np.atleast_1d(np.asarray(latency, float))
    if not (np.isfinite(delays).all() and (delays >= 0).all()):
        raise InputError(f"latency must be at least 0 seconds, got {latency!r}")
    delay = xr.DataArray(delays, dims="latency")
    features = _features(part, machine)
    compute = machine.compute * features["compute"]
    transfer = features["bytes"] / rate + machine.byte * features["payload"]
    barrier = machine.exchange * features["exchanges"] + machine.partner * features["partners"]
    barrier = barrier + delay * features["hops"] + 0 * rate
    parts = {"compute": compute, "transfer": transfer, "barrier": barrier}
    found = xr.Dataset(
        {"seconds": compute + transfer + barrier, **parts},
        {"clusters": part.clusters.values, "bandwidth": rate.values, "latency": delays},
        {"kernel": dataset.attrs.get("kernel", ""), **asdict(replace(machine, errors=()))},
    )
    del found.attrs["errors"]
    texts = {
        "seconds": "completion time",
        "compute": "time computing, on the busiest cluster of each exchange",
        "transfer": "time of the busiest link",
        "barrier": "time of messages and barriers",
    }
    if machine.errors:
        factor = machine.factor(level)
        found["low"], found["high"] = found.seconds / factor, found.seconds * factor
        found.attrs |= {"level": level, "held_out": len(machine.errors)}
        texts |= {"low": "lower end of the interval", "high": "upper end of the interval"}
    for name, text in texts.items():
        found[name].attrs = {"long_name": text, "units": "s"}
    found["bandwidth"].attrs = {"long_name": "bandwidth of a link", "units": "B/s"}
    found["latency"].attrs = {"long_name": "latency of a message", "units": "s"}
    for name, given in (("bandwidth", bandwidth), ("latency", latency), ("clusters", clusters)):
        if given is not None and np.ndim(given) == 0:
            found = found.squeeze(name)
    return found


def _traced(dataset: xr.Dataset, clusters: ArrayLike | None) -> xr.Dataset:
    if "out_bytes" not in dataset or "clusters" not in dataset.dims:
        raise InputError(
            "the dataset has no counted traffic; make one with "
            "dgsuite.studies.scaling.trace(kernel, graph, clusters=[...])"
        )
    if clusters is None:
        return dataset
    wanted = points(clusters, "clusters").astype(int)
    known = dataset.clusters.values
    if missing := sorted(set(wanted.tolist()) - set(known.tolist())):
        raise InputError(
            f"clusters = {missing[0]} was not traced; the dataset has {known.tolist()}"
        )
    return dataset.sel(clusters=wanted)


def _features(part: xr.Dataset, machine: Machine) -> dict[str, xr.DataArray]:
    """What the model is linear in, summed over exchanges, by number of clusters."""
    p = part.clusters.astype(float)
    steps = part.sizes["step"]
    several = (p > 1).astype(float)
    payload = np.maximum(part.out_bytes, part.in_bytes).sum("step")
    if machine.barrier == "all":
        told, hops = (p - 1) * steps, several * steps
    else:
        depth = np.ceil(np.log2(np.maximum(p, 1)))
        told = depth * steps + part.partners.sum("step")
        hops = depth * steps
    return {
        "compute": (part.compute_seconds * part.share).sum("step"),
        "bytes": payload + machine.header * told,
        "payload": payload,
        "partners": told,
        "exchanges": several * steps,
        "hops": hops,
    }


def calibrate(
    dataset: xr.Dataset,
    clusters: Sequence[int] | NDArray,
    bandwidth: Sequence[float] | NDArray,
    seconds: Sequence[float] | NDArray,
    latency: float = 0,
    machine: Machine | None = None,
    held_out: Sequence[bool] | NDArray | None = None,
) -> Machine:
    """What an exchange costs on a machine, from measured runs.

    Parameters
    ----------
    dataset
        Of `trace`, with all these clusters.
    clusters, bandwidth, seconds
        Of each run: machines, bytes a second of a link (infinite where not limited), time.
    latency
        Of its messages.
    machine
        Whose header and barrier to keep; by default that of the clocked style.
    held_out
        Which of the runs to leave out; the errors there give what-if its intervals.

    Raises
    ------
    InputError
        Fewer runs than unknown costs, or a value that cannot be.

    Examples
    --------
    A machine on which each exchange takes a millisecond more:

    >>> from dgsuite import genval
    >>> from dgsuite.studies.scaling import Machine, calibrate, trace, what_if
    >>> traffic = trace("bfs", genval.rmat(8, seed=1).to_undirected(), clusters=[2, 4, 8, 16])
    >>> real = what_if(traffic, bandwidth=1e9, latency=0, machine=Machine(exchange=1e-3))
    >>> found = calibrate(traffic, [2, 4, 8, 16], [1e9] * 4, real.seconds.values)
    >>> round(found.exchange, 5)
    0.001
    """
    machine = machine or Machine(barrier="all")
    times = points(seconds, "seconds")
    ps = points(np.asarray(clusters), "clusters").astype(int)
    rates = np.asarray(bandwidth, float)
    if not (len(times) == len(ps) == len(rates)):
        raise InputError(
            f"there are {len(ps)} clusters, {len(rates)} bandwidths, {len(times)} seconds"
        )
    out = np.zeros(len(times), bool) if held_out is None else np.asarray(held_out, bool)
    if out.shape != times.shape:
        raise InputError(f"there are {len(times)} runs, and held_out has the shape {out.shape}")
    used = ~out
    if used.sum() < 4:
        raise InputError(f"at least 4 runs are needed, got {used.sum()}")
    features = {
        name: values.sel(clusters=ps).to_numpy()
        for name, values in _features(_traced(dataset, np.unique(ps)), machine).items()
    }
    known = features["bytes"] / rates + latency * features["hops"]
    columns = [features[name] for name in ("compute", "exchanges", "partners", "payload")]
    a = np.stack(columns, axis=1) / times[:, None]
    target = (times - known) / times
    norm = np.linalg.norm(a[used], axis=0)
    norm[norm == 0] = 1
    costs = scipy.optimize.nnls(a[used] / norm, target[used])[0] / norm
    errors = np.abs(np.log(1 + a[out] @ costs - target[out]))
    found = dict(zip(("compute", "exchange", "partner", "byte"), costs.tolist(), strict=True))
    return replace(machine, **found, errors=tuple(errors.tolist()))
