"""Verdicts on results could have come out otherwise.

Each measured or simulated verdict is tried on results that deny what the paper says, and on results that
confirm it: the first must not be "equal" or "agrees", and the second must be.
"""

import json
from itertools import count, product

import numpy as np
import pytest
import xarray as xr

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.replicated import Searcher
from dgsuite.kernels.imsuite.leader_lcr.faithful import FaithfulLCR
from dgsuite.studies.report.claims import counts as of_tables
from dgsuite.studies.report.claims import kernels, times
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import COUNTED, Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.results import hardware_threads
from dgsuite.studies.scaling.analysis import split
from dgsuite.studies.scaling.measure import measured
from dgsuite.studies.scc.chip import NO_SOCKETS
from tests.support.claims import Changed, shipped, timed

FA, FAC = "finish_async", "clocked"
GOOD = ("equal", "agrees")


def verdict(name, evidence):
    (row,) = judge(evidence, [claims()[name]])
    return row.verdict


# Counts: what is changed is a run


def counts(name, change, **where):
    """Evidence in which a count is changed: by an array of the rounds, in the runs that are meant."""

    def changed(ds, kernel, given, style, form):
        meant = {"kernel": kernel, "given": given, "style": style, "form": form}
        if all(
            meant[key] in ([value] if isinstance(value, str) else value)
            for key, value in where.items()
        ):
            return ds.assign({name: (ds[name].dims, change(ds[name].values, ds))})
        return ds

    return Changed(changed)


def more(name, by=1, **where):
    """So many more of a count, in the first round."""
    return counts(name, lambda v, ds: v + by * (np.arange(len(v)) == 0), **where)


def rounds(at):
    """Evidence in which runs of kernels on inputs have other rounds."""

    def changed(ds, kernel, given, style, form):
        return ds.isel(round=at[kernel, given]) if (kernel, given) in at else ds

    return Changed(changed)


def printed_comm(ds, kernel, given, style, form):
    """Communication of HS and LCR as printed."""
    row = claims()["imsuite.fig8.corrected"].table().get(kernel)
    if row is None:
        return ds
    comm = np.zeros(ds.sizes["round"], int)
    comm[0] = row[f"Comm {'FA' if style == FA else 'FAC'}"]
    return ds.assign(comm=("round", comm))


LARGE = 10**6

COUNTS = {
    "sec4.1.fac-lighter": lambda: (counts("finishes", lambda v, _: 100 * v, style=FAC), Changed()),
    "sec6.1.1.asyncs": lambda: (
        more("asyncs", kernel="bf"),
        counts("asyncs", lambda _, ds: 64 * ds.finishes.values, kernel="by"),
    ),
    "fig7.phase-sum": lambda: (more("barriers", kernel="bf", style=FAC), Changed()),
    "fig7.static-mut-equal": lambda: (more("mutexes", kernel="bf", style=FAC), Changed()),
    "fig8.corrected": lambda: (Changed(), Changed(printed_comm)),
    "fig8.merged-phases": lambda: (more("comm", kernel="bf", style=FA), Changed()),
    "fig8.mutex-order": lambda: (more("mutexes", LARGE, given="Mn"), Changed()),
    "fig8.mis-comm-below-mutex": lambda: (more("comm", LARGE, kernel="mis"), Changed()),
    "fig8.comm-order": lambda: (more("comm", LARGE, given="Mn"), Changed()),
    "fig19.by-counts": lambda: (more("finishes", LARGE, kernel="by", given="Mx"), Changed()),
    "fig9.similar": lambda: (
        counts("comm", lambda v, _: v.max() - v, kernel="by", given="Mn"),
        counts("comm", lambda v, _: v.max() - v, kernel=("bf", "dst", "ds"), given="Mn"),
    ),
    "fig9.by-level": lambda: (more("comm", kernel="by"), Changed()),
    "fig9.fewer-rounds": lambda: (Changed(), rounds({("dr", "Mn"): [0, 0], ("ds", "Mx"): [0]})),
    "fig9.mis": lambda: (rounds({("mis", "Mx"): [0]}), Changed()),
    "fig9.vc": lambda: (rounds({("vc", "Mn"): [0, 0]}), Changed()),
    "fig10.bf-relations": lambda: (more("comm", kernel="bf", form="recursive"), Changed()),
    "fig10.like-iterative": lambda: (more("mutexes", LARGE, given="Mn", form="recursive"), Changed()),
    "fig10.by-mutex": lambda: (more("comm", LARGE, kernel="by", form="recursive"), Changed()),
    "fig10.dst-comm": lambda: (more("comm", kernel="dst", style=FA, form="recursive"), Changed()),
    "fig10.mst-equal": lambda: (more("mutexes", kernel="mst", given="Mx", form="recursive"), Changed()),
}  # fmt: skip
"""By claim of IMSuite: evidence that denies it, and that confirms it."""


@pytest.mark.parametrize("name", COUNTS)
def test_a_verdict_on_counts_follows_the_counts(name):
    denied, confirmed = COUNTS[name]()
    assert verdict(f"imsuite.{name}", denied).verdict not in GOOD
    assert verdict(f"imsuite.{name}", confirmed).verdict in GOOD


TABLES = [f"imsuite.fig{name}.table" for name in ("7a", "7b", "7c", "8", "10a", "10b")]


@pytest.mark.parametrize("name", TABLES)
def test_a_verdict_on_cells_follows_the_cells(name, monkeypatch):
    """A cell that differs by another number than its reason says has none."""
    of = of_tables.cells_of

    def other(by):
        def changed(*given):
            alike = [c._replace(difference=0, why=None) for c in of(*given)]
            return [alike[0]._replace(difference=by, why="" if by else None), *alike[1:]]

        return changed

    monkeypatch.setattr(of_tables, "cells_of", other(1))
    found = verdict(name, Changed())
    assert found.verdict == "differs"
    assert found.silent
    monkeypatch.setattr(of_tables, "cells_of", other(0))
    assert verdict(name, Changed()).verdict == "equal"


@pytest.mark.parametrize("count", ["comm", "finishes"])
def test_counts_of_the_folder_are_those_of_a_run(count):
    """Else no verdict that rests on them is one, which is an error."""
    wrong = {
        name: ds.assign({count: 2 * ds[count] + 1}) if ds.attrs.get("figure") in COUNTED else ds
        for name, ds in shipped().items()
    }
    mine = [claims()[f"imsuite.{name}"] for name in COUNTS] + [claims()[name] for name in TABLES]
    for row in judge(Evidence(wrong), mine):
        assert row.verdict.verdict == "not checked"
        assert f"{count}, a run here" in row.verdict.silent
        assert row.verdict.kind == "measured"


TYPES = claims()["imsuite.sec5.1.graph-types"].data["rows"]


@pytest.mark.parametrize("kind", sorted({kind for _, _, types, _ in TYPES for kind in types}))
def test_graphs_of_a_kind_are_what_its_name_says(kind, monkeypatch):
    """Of each kind a graph of another one is seen."""
    made = kernels._generated
    other = "complete" if kind in ("SP-Min", "Random") else "SP-Min"

    def swapped(name, kernel):
        return made(other, "bf") if name == kind else made(name, kernel)

    monkeypatch.setattr(kernels, "_generated", swapped)
    found = verdict("imsuite.sec5.1.graph-types", Evidence())
    assert found.verdict == "differs"
    assert all(
        word.split()[-1] == kind
        for word in found.ours.removeprefix("kinds of graph all but ").split(", ")
    )


@pytest.mark.parametrize("wrong", [lambda seed: b"", lambda seed: str(next(COUNT)).encode()])
def test_a_generator_is_seen_that_ignores_its_seed_or_repeats_nothing(wrong, monkeypatch):
    made = kernels.imsuite.generate

    def generated(kernel, n, seed):
        return wrong(seed) if kernel == "kc" else made(kernel, n, seed=seed)

    monkeypatch.setattr(kernels.imsuite, "generate", generated)
    found = verdict("imsuite.sec5.1.generator", Evidence())
    assert found.verdict == "differs"
    assert "all but kc" in found.ours


COUNT = count()


class AsPrinted(FaithfulLCR):
    def elect(self, c, s, inbox):
        more = inbox["uid"] > c.uid[inbox.node]
        s.leader[inbox.node[more]] = inbox["uid"][more]


class AllOn(FaithfulLCR):
    def elect(self, c, s, inbox):
        s.leader[inbox.node] = inbox["uid"]


class Backwards(FaithfulLCR):
    def transmit(self, c, s, inbox):
        return bsp.unicast((c.ids - 1) % c.n, uid=s.leader)


class TwoToOne(FaithfulLCR):
    def transmit(self, c, s, inbox):
        return bsp.unicast(np.where(c.ids % 4 == 3, c.ids - 1, c.successor), uid=s.leader)


class FromNothing(FaithfulLCR):
    def start(self, c):
        return self.state(leader=c.uid * 0)


class OneRoundLess(FaithfulLCR):
    def program(self, net):
        for _ in range(net.n - 1):
            yield bsp.Round(self.transmit, self.elect)


RULE, BACK = "what follows by the rule", "the leader gets its own back"

LCR = [
    (FaithfulLCR, "agrees", ": all"),
    (AsPrinted, "agrees", ": all"),
    (AllOn, "differs", f"all but {RULE}"),
    (Backwards, "differs", f"all but all send to the next node, {RULE}"),
    (TwoToOne, "differs", "all but all send to the next node, one message in a mailbox"),
    (FromNothing, "differs", "all but send_j = uid_j at first"),
    (OneRoundLess, "differs", f"all but n rounds, {BACK}"),
]


@pytest.mark.parametrize(("kernel", "expected", "told"), LCR)
def test_nodes_of_lcr_do_what_figure_4_says(kernel, expected, told, monkeypatch):
    monkeypatch.setattr(kernels, "FaithfulLCR", kernel)
    found = verdict("imsuite.fig4.lcr", Evidence())
    assert found.verdict == expected
    assert told in found.ours


def test_who_leads_in_lcr_got_its_own_back(monkeypatch):
    uid, to, sent, leader = kernels._messages_of_lcr()
    monkeypatch.setattr(kernels, "_messages_of_lcr", lambda: (uid, to, sent, leader - 1))
    found = verdict("imsuite.fig4.lcr", Evidence())
    assert found.verdict == "differs"
    assert found.ours.endswith(f": all but {BACK}")


def test_space_of_searches_without_weights_is_seen(monkeypatch):
    monkeypatch.setattr(Searcher, "nbytes", property(lambda self: len(self.sums.whole) ** 3))
    assert verdict("scc.sec4.2.2.brandes", Evidence(shipped())).verdict == "differs"


# Times: what is changed is a figure


def sweep(number, name, values, seconds, who=("X10", FA), kernel="bf", **more):
    """A figure whose times go with what is swept."""
    given = [((*who, kernel, {name: v}), s) for v, s in zip(values, seconds, strict=True)]
    return {"f": timed(number, given).assign(more)}


def pair(number, name, values, one, other, kernel):
    """A figure with a kernel's times in X10-FA and in HJ-FA."""
    given = []
    for who, each in (("X10", one), ("HJ", other)):
        given += [((who, FA, kernel, {name: v}), s) for v, s in zip(values, each, strict=True)]
    return {"f": timed(number, given)}


def gaining(names):
    """Figure 15, where some kernels gain from a second place, and others lose."""
    kernels = ("bf", "by", "dr", "mis")
    given = [
        (("X10", FA, k, {"clusters": c}), s)
        for k in kernels
        for c, s in ((1, 1.0), (2, 0.8 if k in names else 1.2))
    ]
    return {"f": timed(15, given)}


def both(number, kernels):
    """Figure 11, from 32 threads to 64 in X10-FAC."""
    given = [
        (("X10", FAC, k, {"workers": w}), s)
        for k, two in kernels.items()
        for w, s in zip((32, 64), two, strict=True)
    ]
    return {"f": timed(number, given)}


def edited(name, change):
    """The results that ship, one of which is changed."""
    found = shipped()
    return {**found, f"{name}.nc": change(found[f"{name}.nc"].copy(deep=True))}


def scaled(where, factor):
    """Times of some runs, changed by a factor or by a function of the results."""

    def change(ds):
        at = where(ds)
        by = factor(ds) if callable(factor) else factor * ds.seconds.values
        return ds.assign(seconds=("run", np.where(at, by, ds.seconds.values)))

    return change


def serial(ds):
    return ds["style"].values == "in_turn"


def by_threads(ds):
    """Times that fall as threads grow, with little noise."""
    return (1 + ds["repeat"].values / 1000) / hardware_threads(ds)


def level(ds):
    return 1 + ds["repeat"].values / 1000


def every_run(ds):
    return np.ones(ds.sizes["run"], bool)


def of_mn(ds):
    return ds["kind"].values == "mn"


def recursive_threads(like):
    found = edited("figure11", scaled(every_run, by_threads))
    changed = scaled(every_run, by_threads if like else level)(found["figure12.nc"])
    return {**found, "figure12.nc": changed}


def bare(ds):
    return (ds["runtime"].values == "HJ") & (ds["workload"].values == "")


def by_factors(ds):
    """Times that are made of tasks, communication, mutexes and the computation."""
    sent = np.where(ds["runtime"].values == "X10", ds["comm"].values, 0)
    tasks, locks = ds["asyncs"].values, ds["mutexes"].values
    return 1e-4 * tasks + 1e-5 * sent + 1e-4 * locks + ds["workload_seconds"].values


def with_threads(shared):
    threads = [1, 2, 4, 8, 16, 32, 64]
    found = sweep(11, "workers", threads, [1.0] * 7)["f"]
    each = {"oversubscribed": shared, "processors": 64, "side_by_side": 64}
    return {
        "f": found.assign({k: ("run", np.full(found.sizes["run"], v)) for k, v in each.items()})
    }


def of_machine(name):
    return {"f": xr.Dataset(attrs={"machine": name})}


POWERS, SIZES = [1, 2, 4, 8], [8, 16, 32]

TIMES = {
    "imsuite.sec5.serial": lambda: (
        [
            edited("figure11", lambda ds: ds.assign(asyncs=ds.asyncs + 1)),
            edited("figure11", lambda ds: ds.assign(wire_bytes=0 * ds.wire_bytes)),
            edited("figure11", scaled(serial, 1e-4)),
            edited("figure07", scaled(every_run, 1e4)),
        ],
        shipped(),
    ),
    "imsuite.sec6.machine": lambda: (of_machine("a sundial"), of_machine("2 x Intel E5-2670")),
    "scalability.sec2.cluster": lambda: (of_machine("a sundial"), of_machine("Intel Xeon E5-2683 v3")),
    "imsuite.sec6.hwt": lambda: (with_threads(True), with_threads(False)),
    "imsuite.fig11.improves": lambda: (
        sweep(11, "workers", POWERS, [1.12, 1.08, 1.04, 1]),
        sweep(11, "workers", POWERS, [8, 4, 2, 1]),
    ),
    "imsuite.fig11.sixteen": lambda: (
        sweep(11, "workers", [4, 8, 16, 32], [8, 7, 5, 1]),
        sweep(11, "workers", [4, 8, 16, 32], [8, 4, 2.3, 2]),
    ),
    "imsuite.fig11.hs-dip": lambda: (
        pair(11, "workers", [16, 32], [1, 0.8], [1, 1.2], "hs"),
        pair(11, "workers", [16, 32], [1, 1.2], [1, 0.8], "hs"),
    ),
    "imsuite.fig11b.sixty-four": lambda: (
        both(11, {"hs": (1, 1.2), "bf": (1, 1.2)}),
        both(11, {"hs": (1.13, 1), "bf": (1.96, 1)}),
    ),
    "imsuite.fig11.serial-first": lambda: (
        edited("figure11", scaled(serial, 1e3)),
        edited("figure11", scaled(serial, 1e-3)),
    ),
    "imsuite.fig11.hj-times": lambda: (
        edited("figure19-factors", scaled(bare, 1e3)),
        edited("figure19-factors", scaled(bare, lambda ds: 0.03 * level(ds))),
    ),
    "imsuite.fig8.hj-mutexes": lambda: (
        edited("figure19-factors", lambda ds: ds.assign(mutexes=ds.mutexes + (ds.runtime == "HJ"))),
        shipped(),
    ),
    "imsuite.fig12.like-iterative": lambda: (recursive_threads(False), recursive_threads(True)),
    "imsuite.fig13.mst": lambda: (
        sweep(13, "threads", [16, 32], [2, 1], ("HJ", FA), "mst"),
        sweep(13, "threads", [16, 32], [1, 2], ("HJ", FA), "mst"),
    ),
    "imsuite.fig14.grows": lambda: (
        {"f": timed(14, [(("X10", FA, k, {"n": n}), s) for k, two in (("bf", (1, 9)), ("by", (1, 2)))
                         for n, s in zip((8, 64), two, strict=True)])},
        {"f": timed(14, [(("X10", FA, k, {"n": n}), s) for k, two in (("bf", (1, 2)), ("by", (1, 9)))
                         for n, s in zip((8, 64), two, strict=True)])},
    ),
    "imsuite.fig15.grows": lambda: (
        sweep(15, "clusters", [1, 2, 8, 64], [1, 1, 1.2, 1.5]),
        sweep(15, "clusters", [1, 2, 8, 64], [1, 1, 4, 32]),
    ),
    "imsuite.fig15.one-to-two": lambda: (gaining(("bf", "mis")), gaining(("by", "dr"))),
    "imsuite.fig16.grows": lambda: (
        sweep(16, "n", SIZES, [1, 2, 3], ("HJ", FAC)),
        sweep(16, "n", SIZES, [1, 2, 9], ("HJ", FAC)),
    ),
    "imsuite.fig17.grows": lambda: (sweep(17, "n", SIZES, [3, 2, 1]), sweep(17, "n", SIZES, [1, 2, 3])),
    "imsuite.fig18.grows": lambda: (sweep(18, "n", SIZES, [1, 3, 4]), sweep(18, "n", SIZES, [1, 2, 9])),
    "imsuite.fig19.by": lambda: (
        pair(19, "kind", ["mn", "mx"], [2, 1], [1, 2], "by"),
        pair(19, "kind", ["mn", "mx"], [1, 2], [2, 1], "by"),
    ),
    "imsuite.fig11.mn-similar": lambda: (
        edited("figure11-mn", lambda ds: scaled(of_mn, level)(scaled(every_run, by_threads)(ds))),
        edited("figure11-mn", scaled(every_run, by_threads)),
    ),
    "imsuite.fig11.hjfap-similar": lambda: (
        edited("figure11-hjfap", scaled(lambda ds: ds["style"].values == FAC, level)),
        edited("figure11-hjfap", scaled(every_run, by_threads)),
    ),
    "imsuite.fig19.factors": lambda: (
        edited("figure19-factors", scaled(every_run, level)),
        edited("figure19-factors", scaled(every_run, by_factors)),
    ),
}  # fmt: skip
"""By claim: results that deny it, and that confirm it."""


def slowest(kind, by=1.5):
    """Figure 19, where VC takes so many times as long on an input."""
    return edited(
        "figure19",
        scaled(every_run, lambda ds: level(ds) * np.where(ds["kind"].values == kind, by, 1.0)),
    )


VC = "imsuite.sec5.1.vc-extremes"


@pytest.mark.parametrize(
    ("kind", "by", "random", "expected"),
    [
        ("mx", 1.5, [12, 13], "agrees"),
        ("mx", 1.5, [12, 15], "differs"),
        ("mx", 1.0, [12, 13], "not checked"),
        ("mn", 1.5, [12, 13], "differs"),
    ],
)
def test_extremes_of_colouring_follow_times_and_joins(kind, by, random, expected, monkeypatch):
    """Of a star beside a chain, and of random trees between them."""
    joins = {"chain": [11], "rn": random, "star": [13]}
    monkeypatch.setattr(times, "joins_of_trees", lambda: joins)
    results = {"f": slowest(kind, by)["figure19.nc"]}
    assert verdict(VC, Evidence(results)).verdict == expected


# Scalability: what is changed is the time of each run, in both places where the results have it


def runs_of(name, truth, noise=0.001):
    """An experiment's results with other times: of workers, share of bandwidth, and nodes over the most."""
    ds = shipped()[f"{name}.nc"].copy(deep=True)
    own = json.loads(ds.attrs["run_attributes"])
    most, luck = max(each["n"] for each in own), np.random.default_rng(7)
    for each in own:
        seconds = truth(each["workers"], each["bandwidth"] / 100, each["n"] / most)
        seconds *= 1 + noise * luck.normal()
        each |= {"seconds": float(seconds), "processors": LARGE}
    seconds = ("run", [each["seconds"] for each in own])
    return {f"{name}.nc": ds.assign(seconds=seconds).assign_attrs(run_attributes=json.dumps(own))}


def at_full(truth):
    return runs_of("scalability-figure2", lambda p, b, n: truth(p) * n)


def throttled(truth, noise=0.001):
    return runs_of("scalability-paper", truth, noise)


def printed(p, b, n):
    """The coefficients of the paper's Figure 3."""
    return 57.67 / p + 3.8 / p**0.5 if n < 1 else 102.1 / p + 10.3 / p**0.5


def demanding(p, b, n, power=0.5):
    """A time that suffers from less bandwidth, more so on fewer workers."""
    return n * (1 + 60 / p + (8 / p**power) * (1 / b - 0.9))


def as_root(p, b, n):
    """A time whose demand grows as the root of the workers, as equation 3 has it."""
    return n * (1 + 60 / p) * (1 + max(0, 3 * (1 - 5 * b / p**0.5)))


def grows(p):
    return 0.1 * p


def shares(processing, communication):
    return at_full(lambda p: 1 + processing / p + communication / p**0.5)


def noise(*shape):
    return 1 + 0.01 * np.random.default_rng(7).normal(size=shape)


def sending(power):
    """What a process sends goes with a power of the workers."""
    ds = shipped()["scalability-figure2.nc"]
    sent = noise(ds.sizes["run"]) * ds.workers ** (1 + power) * LARGE * (ds["round"] == 0)
    return {"scalability-figure2.nc": ds.assign(bytes=sent.transpose(*ds.bytes.dims))}


def in_parts(processing, communication):
    """Time computing and the rest go with powers of the workers."""
    ds = shipped()["scalability-figure2.nc"]
    p, (one, other) = ds.workers.values.astype(float), noise(2, ds.sizes["run"])
    computing, rest = one * p**processing, other * p**communication
    of_first = (ds["round"] == 0) * xr.DataArray(computing, dims="run")
    spent = of_first.broadcast_like(ds.cpu_seconds).transpose(*ds.cpu_seconds.dims)
    return {
        "scalability-figure2.nc": ds.assign(cpu_seconds=spent, seconds=("run", computing + rest))
    }


SCALABILITY = {
    "eq0.parts": lambda: ([in_parts(-0.5, -0.5), in_parts(-1, 0)], in_parts(-1, -0.5)),
    "eq1.base": lambda: (
        [at_full(grows), at_full(lambda p: 1 + 1 / p), at_full(lambda p: 60 / p - 8 / p**0.5)],
        at_full(lambda p: 60 / p + 8 / p**0.5),
    ),
    "sec3.messages": lambda: ([sending(-1), sending(0), sending(0.5)], sending(-0.5)),
    "fig2.not-straight": lambda: (
        [at_full(lambda p: 1 / p), at_full(grows)],
        at_full(lambda p: p**-0.5),
    ),
    "fig3.fit": lambda: ([at_full(grows)], runs_of("scalability-figure2", printed)),
    "fig3.good-fit": lambda: ([at_full(lambda p: 1 + p % 4)], shares(60, 8)),
    "fig3.processing-dominates": lambda: ([at_full(grows), shares(8, 60)], shares(60, 8)),
    "fig4.nonlinear": lambda: ([throttled(lambda p, b, n: 2 - b)], throttled(demanding)),
    "fig4.order": lambda: (
        [throttled(lambda p, b, n: demanding(p, b, 1 / n)), throttled(lambda p, b, n: p * n / b)],
        throttled(demanding),
    ),
    "sec4.intersense": lambda: (
        [throttled(lambda p, b, n: n * 60 / p), throttled(lambda p, b, n: n * (60 / p) / b**0.01)],
        throttled(demanding),
    ),
    "sec4.diminishing-return": lambda: (
        [at_full(grows), shares(600, 8)],
        at_full(lambda p: 4 + 60 / p + 8 / p**0.5),
    ),
    "fig5.similar": lambda: (
        [throttled(lambda p, b, n: n * (1 + 60 / p) * (1 + b ** -(p**0.5)))],
        throttled(demanding),
    ),
    "fig6.dc": lambda: (
        [throttled(as_root)],
        throttled(lambda p, b, n: demanding(p, b, n, 0.45 if n < 1 else 0.3)),
    ),
    "fig6.error": lambda: ([throttled(demanding)], throttled(as_root, noise=0)),
    "sec4.bandwidth-shortage": lambda: ([at_full(grows), shares(600, 8)], shares(8, 60)),
}
"""By claim: several results that deny it, and those that confirm it."""


def test_two_copies_of_a_time_are_the_same():
    given = at_full(lambda p: p**-0.5)
    wrong = {name: ds.assign(seconds=2 * ds.seconds) for name, ds in given.items()}
    found = verdict("scalability.fig3.good-fit", Evidence(wrong))
    assert "other seconds by run" in found.silent


AGAIN = [n for n in SCALABILITY if n not in ("eq0.parts", "sec3.messages", "sec4.intersense")]
"""Claims that are judged on the simulated cluster, too."""


def on_the_cluster(results):
    """The same times, as those of the simulated cluster."""
    (ds,) = results.values()
    runs = measured(split(ds)).assign_attrs(simulated=1)
    at = np.isin(runs.p, (4, 9, 16, 25))
    return Evidence({"scalability-simulated.nc": runs.assign(throttled=("p", at))})


@pytest.mark.parametrize("name", AGAIN)
def test_a_verdict_on_the_simulated_cluster_follows_its_times(name):
    denied, confirmed = SCALABILITY[name]()
    for results in denied:
        assert verdict(f"scalability.{name}", on_the_cluster(results)).beside.verdict not in GOOD
    found = verdict(f"scalability.{name}", on_the_cluster(confirmed))
    assert found.beside.verdict in GOOD
    assert found.verdict == "not checked"
    assert found.beside.machine in str(found.beside)


@pytest.mark.parametrize(("power", "good"), [(-1, True), (-0.5, False)])
def test_computing_on_the_simulated_cluster_follows_its_time(power, good):
    runs = shipped()["scalability-simulated.nc"]
    p, (one, other) = runs.p.values.astype(float), noise(2, runs.sizes["p"])
    computing = runs["compute"] * 0 + xr.DataArray(one * p**power, dims="p")
    rest = runs.seconds * 0 + xr.DataArray(other / p**0.5, dims="p")
    runs = runs.assign(compute=computing, seconds=rest + computing)
    found = verdict("scalability.eq0.parts", Evidence({"scalability-simulated.nc": runs}))
    assert (found.beside.verdict in GOOD) == good


# The chip: what is changed are simulated times


def simulated(number, truth):
    """Results of Hartree-Fock with times of input, balance, transport and places."""
    ds = shipped()[f"scc-hf-figure{number}.nc"].copy(deep=True)
    dims = [ds[name].values.tolist() for name in ds.simulated.dims]
    values = np.array([truth(*at) for at in product(*dims)]).reshape(ds.simulated.shape)
    ends = {f"simulated_{end}": by * values for end, by in (("low", 0.99), ("high", 1.01))}
    found = {"simulated": values, **ends}
    return {f"f{number}": ds.assign({k: (ds.simulated.dims, v) for k, v in found.items()})}


def on_places(number, truth):
    """Results of betweenness centrality with times of workload, transport and places."""
    ds = shipped()[f"scc-bc-figure{number}.nc"].copy(deep=True)
    names = ds.simulated_seconds.dims
    dims = [ds[name].values.tolist() for name in names]
    at = [dict(zip(names, values, strict=True)) for values in product(*dims)]
    values = np.array([truth(a["workload"], a["transport"], a["places"]) for a in at])
    shaped = values.reshape(ds.simulated_seconds.shape)
    return {f"b{number}": ds.assign(simulated_seconds=(names, shaped))}


def molecules(aspirin, benzene, dynamic=1.0):
    """Figure 5, where speed-ups are powers of the places."""

    def truth(name, balance, transport, p):
        power = aspirin if name.startswith("aspirin") else benzene
        return p ** -(power * (1 if balance == "static" else dynamic))

    return simulated(5, truth)


def peaks(name, balance, transport, p):
    """As in the paper's Figure 5 (b)."""
    if name.startswith("aspirin"):
        return 1 / (1 + 30 * (p - 1) / 43)
    return 1 / (1 + 5 * (p - 1) / 11) if p <= 12 else 1 / 5


def thirteen(name, balance, transport, p):
    return 1 / (1 + 12 * (p - 1) / 47)


def beside(native, sockets, others=1.0, dynamic=1.0):
    """Figure 6: how many times as long transports take."""
    times = {"mpb": native, "tcp": sockets}
    return simulated(6, lambda name, balance, transport, p: times.get(transport, others) / p
                     * (dynamic if balance == "dynamic" else 1))  # fmt: skip


def dearer(at_few, at_most):
    """Dynamic balancing beside static at 8 and at 48 places."""
    return simulated(6, lambda name, balance, transport, p:
                     (1 if balance == "static" else at_few if p < 20 else at_most) / p)  # fmt: skip


def rough(by):
    """Static balancing takes so many times as long as dynamic, and is rougher."""
    return simulated(6, lambda name, balance, transport, p:
                     (1 if balance == "dynamic" else by * (1.1 if p % 8 else 1)) / p)  # fmt: skip


def slowed(who, by, number=9):
    """Transports of betweenness centrality that take so many times as long as the native one."""
    return on_places(number, lambda name, t, p: (by if t in who else 1) / p)


def flattening(name, transport, p):
    """As in the paper's Figure 9 (b)."""
    most = {"mpb": 48}.get(transport, 36)
    return 1 / (1 + 24 * (min(p, most) - 1) / 47)


def jagged(name, transport, p):
    """The same, the native one less smooth."""
    return flattening(name, transport, p) * (1.3 if transport == "mpb" and p in (12, 20, 28) else 1)


def slow_others(name, transport, p):
    """The same, the others behind on few places."""
    return flattening(name, transport, p) * (1 if transport == "mpb" or p in (1, 36, 48) else 1.4)


OTHERS = ("mpimpb", "mpi-sock", "tcp")
LOADS = {"small": 0.5, "medium": 0.6, "low": 0.7, "high": 0.8}


def by_load():
    return on_places(10, lambda name, t, p: p ** -LOADS[name])


def dropping(who):
    """Figure 10, where low drops at 48 places on a transport."""
    return on_places(10, lambda name, t, p: (1.5 if t == who and p == 48 else 1) / p)


def stopped(benzene, aspirin):
    """Figure 5: what messages add to times at 48 places."""

    def truth(name, balance, transport, p):
        by = benzene if name.startswith("benzene") else aspirin
        work = 1 if name.startswith("benzene") else 10
        return work / p * (1 if transport == "none" or p < 48 else by)

    return simulated(5, truth)


def holding(nbytes):
    return {name: ds.assign(held_bytes=ds.held_bytes * 0 + nbytes)
            for name, ds in shipped().items() if "held_bytes" in ds}  # fmt: skip


def full(results):
    """The same, with more on a place than a core of the chip has room for."""
    return {name: ds.assign(held_bytes=ds.held_bytes + 1e9) for name, ds in results.items()}


def static(chip=1):
    """Hartree-Fock under static balancing, a message of the chip so many times as dear."""
    found = {k: ds.sel(balance=["static"]) for k, ds in shipped().items() if k.startswith("scc-hf")}
    return {k: ds.assign(message=ds.message.where(ds.transport != "chip:mpb", chip * ds.message))
            for k, ds in found.items()}  # fmt: skip


def inverted():
    """Results whose messages cost most where they cost least."""
    names = ("matrix", "counter_operation", "message_seconds")
    return {
        name: ds.assign({n: 1 / (ds[n] + 1e-9) for n in names if n in ds})
        for name, ds in shipped().items()
    }


def by_cycles_of(chip):
    """Figure 6, where units take a second, and messages of the chip so much more."""
    return simulated(6, lambda name, balance, t, p: (1 + chip * (t == "chip:mpb")) / p)


def native():
    return beside(1, 4, 2) | slowed(OTHERS, 1.05) | by_load()


def by_edges(name):
    """Figure 10, where something grows by the edges more than it does."""
    return edited("scc-bc-figure10", lambda ds: ds.assign({name: ds[name] * ds.edges}))


SCC = {
    "sec4.2.2.brandes": lambda: ([by_edges("work_seconds"), by_edges("held_bytes")], shipped()),
    "fig5.aspirin-better": lambda: ([molecules(0.5, 0.9)], molecules(0.9, 0.5, 0.7)),
    "fig5.benzene-limited": lambda: (
        [
            stopped(1, 9),
            simulated(
                5, lambda name, balance, t, p: (1 if balance == "static" or t == "none" else p) / p
            ),
        ],
        stopped(9, 1),
    ),
    "fig5a.aspirin": lambda: ([molecules(0.9, 0.9)], simulated(5, thirteen)),
    "fig5b.numbers": lambda: ([molecules(0.9, 0.9)], simulated(5, peaks)),
    "fig6.dynamic-costly": lambda: ([dearer(1, 1), dearer(2, 2)], dearer(2, 1)),
    "fig6.slower-than-cluster": lambda: ([by_cycles_of(0), by_cycles_of(99)], by_cycles_of(9)),
    "fig6.rcce-best": lambda: ([beside(2, 1)], beside(1, 2, 2)),
    "fig6.sockets-worst": lambda: ([beside(1, 0.5)], beside(1, 3, 2)),
    "fig7.rcce-scales-best": lambda: ([beside(2, 1)], beside(1, 2, 2)),
    "fig7c.static-rougher": lambda: ([rough(1.6), dearer(1.2, 1.2)], rough(0.8)),
    "fig9a.rcce-slightly": lambda: (
        [slowed(OTHERS, 10), slowed(("mpb",), 1.05)],
        slowed(OTHERS, 1.05),
    ),
    "fig9b.scaling": lambda: (
        [slowed(OTHERS, 1.05), on_places(9, slow_others)],
        on_places(9, flattening),
    ),
    "fig9b.smoother": lambda: ([on_places(9, jagged)], on_places(9, flattening)),
    "fig9.sockets-track": lambda: (
        [slowed(("tcp",), 2) | beside(1, 4, 2)],
        slowed(("mpb",), 2) | beside(1, 4, 2),
    ),
    "fig10.load": lambda: ([on_places(10, lambda name, t, p: p ** (LOADS[name] - 1))], by_load()),
    "fig10.large-low": lambda: ([dropping("mpb"), dropping("none")], dropping("mpi")),
    "sec4.3.2.memory": lambda: ([holding(1e6)], holding(1e9)),
    "sec3.nogc": lambda: ([holding(1e6)], holding(1e9)),
    "sec5.conclusion": lambda: ([full(native() | beside(4, 1, 2)), native()], full(native())),
    "sec5.cost": lambda: ([inverted(), static(1000)], static()),
    "fig5.benzene-why": lambda: ([stopped(9, 9), stopped(1, 9)], stopped(9, 1)),
    "sec4.dynamic-runs": lambda: (
        [simulated(6, lambda name, balance, t, p: 1 / p if t in ("counted", "none") else p)],
        beside(1, 1),
    ),
}
"""By claim: several results that deny it, and those that confirm it."""

ON_RESULTS = {
    **TIMES,
    **{f"scalability.{name}": given for name, given in SCALABILITY.items()},
    **{f"scc.{name}": given for name, given in SCC.items()},
}


@pytest.mark.parametrize("name", ON_RESULTS)
def test_a_verdict_on_results_follows_them(name):
    denied, confirmed = ON_RESULTS[name]()
    for results in denied if isinstance(denied, list) else [denied]:
        assert verdict(name, Evidence(results)).verdict not in GOOD
    assert verdict(name, Evidence(confirmed)).verdict in GOOD


CHIP = {"mpb": "chip:mpb", "mpimpb": "chip:mpimpb", "chip:mpb": "mpb", "chip:mpimpb": "mpimpb"}
"""The chip's columns, and those of this machine that stand for them."""

JUDGED_AGAIN = ("fig6.dynamic-costly", "fig6.rcce-best", "fig7.rcce-scales-best", "fig7c.static-rougher",
                "fig9a.rcce-slightly", "fig9b.scaling", "fig9b.smoother", "sec4.dynamic-runs",
                "sec5.conclusion")  # fmt: skip


@pytest.mark.parametrize("name", JUDGED_AGAIN)
def test_the_chip_is_judged_by_its_own_columns(name):
    """Each takes the place of the other: what denies the paper of this machine denies it of the chip."""

    def again(results):
        moved = {
            k: ds.assign_coords(transport=[CHIP.get(t, t) for t in ds.transport.values])
            for k, ds in results.items()
        }
        return verdict(f"scc.{name}", Evidence(moved)).beside

    denied, confirmed = SCC[name]()
    assert all(again(results).verdict not in GOOD for results in denied)
    assert again(confirmed).verdict in GOOD


def test_the_chip_has_no_sockets():
    for name in ("fig6.sockets-worst", "fig9.sockets-track"):
        found = verdict(f"scc.{name}", Evidence(shipped()))
        assert found.beside == ("the chip", "not checked", NO_SOCKETS)


TRIED = [VC, *ON_RESULTS, *TABLES, *(f"imsuite.{name}" for name in COUNTS)]


def test_no_verdict_on_results_without_results():
    """One rests on our code, too; then it says so."""
    for row in judge(Evidence(), [claims()[name] for name in TRIED]):
        assert (
            row.verdict.verdict == "not checked"
            if row.verdict.kind in ("measured", "simulated")
            else row.claim.id == "scalability.sec4.intersense"
        )
