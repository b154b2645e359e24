"""What the paper found, beside what comes out here: agrees, or differs and why."""

from __future__ import annotations

from typing import NamedTuple

import xarray as xr

NEAR = 0.15
"""Relative difference up to which a simulated figure agrees with the paper's."""

PAPER = ("mpb", "mpimpb", "tcp")
"""Transports that the paper has, as they are called here."""

LIGHT = "searches send nothing, and messages cost less beside a processor of today than beside the SCC's"


class Finding(NamedTuple):
    """A finding of the paper, and ours; `why` where they differ."""

    what: str
    paper: str
    ours: str
    agrees: bool
    why: str = ""

    @property
    def verdict(self) -> str:
        """For a table."""
        return "agrees" if self.agrees else f"differs: {self.why}"


def betweenness(ds: xr.Dataset) -> list[Finding]:
    """Findings on betweenness centrality, as far as the dataset has what they are about."""
    found = []
    for name in ds.workload.values:
        paper, ours = (int(ds[v].sel(workload=name)) for v in ("paper_edges", "edges"))
        if paper > 0:
            off = ours / paper - 1
            why = "another random graph"
            found.append(
                Finding(
                    f"Table 1: edges of {name}",
                    f"{paper}",
                    f"{ours} ({off:+.2%})",
                    abs(off) < 1e-3,
                    why,
                )
            )
    large = next((w for w in ("large", "low") if w in ds.workload.values), None)
    blocks = ds.simulated_seconds.isel(deal=0)
    places = ds.places.values.tolist()
    if large is not None and 48 in places:
        found += _transports(blocks.sel(workload=large), ds, places)
    if {"low", "high"} <= set(ds.workload.values.tolist()) and {44, 48} <= set(places):
        low, high = (_speedup(blocks.isel(transport=0).sel(workload=w)) for w in ("low", "high"))
        drop = float(low.sel(places=48) / low.sel(places=44))
        found.append(
            Finding(
                "Figure 10a: low drops markedly from 44 to 48 places, high does not",
                "drops",
                f"x {drop:.2f}, high x {float(high.sel(places=48) / high.sel(places=44)):.2f}",
                drop < 0.97,
                "nothing in the program does that where every place has a processor of its own",
            )
        )
    if {"small", "medium"} <= set(ds.workload.values.tolist()) and large and 48 in places:
        at = [
            float(_speedup(blocks.isel(transport=0).sel(workload=w)).sel(places=48))
            for w in ("small", "medium", large)
        ]
        found.append(
            Finding(
                "Figure 10b: the higher the load, the better the speed-up (small, medium, large)",
                "increasing",
                " < ".join(f"{s:.1f}" for s in at),
                at == sorted(at),
                "medium is dealt worst: its blocks are balanced to "
                f"{float(ds.balance.isel(deal=0).sel(workload='medium', places=48)):.2f}",
            )
        )
    return found


def _transports(large: xr.DataArray, ds: xr.Dataset, places: list[int]) -> list[Finding]:
    names = [str(t) for t in large.transport.values]
    native = "mpb" if "mpb" in names else names[0]
    base = large.sel(transport=native)
    best = float(_speedup(base).sel(places=48))
    found = [
        Finding(
            f"Figure 9b: speed-up of large at 48 places, native transport ({native})",
            "25",
            f"{best:.1f}",
            abs(best / 25 - 1) < NEAR,
            "making the graph, which every place does, would have to take 1.6 % of one place's time; here "
            f"it takes {float(ds.setup_seconds.sel(workload=large.workload) / base.isel(places=0)):.2%}",
        )
    ]
    if {"mpb", "tcp"} <= set(names):
        at = large.sel(places=48, transport=[t for t in PAPER if t in names])
        order = [str(at.transport.values[i]) for i in at.argsort().values]
        spread = float(at.max() / at.min() - 1)
        found.append(
            Finding(
                "Figure 9: the native transport is slightly best throughout",
                "RCCE-X10 first",
                f"{', '.join(order)} ({spread:.1%} apart)",
                order[0] == "mpb",
                LIGHT,
            )
        )
    if "mpimpb" in names and 36 in places:
        gain = {
            t: float(large.sel(transport=t, places=36) / large.sel(transport=t, places=48))
            for t in ("mpimpb", native)
        }
        found.append(
            Finding(
                "Figure 9b: both MPI columns flatten at about 36 places",
                "flat",
                f"36 to 48 places: mpimpb x {gain['mpimpb']:.2f}, {native} x {gain[native]:.2f}",
                gain["mpimpb"] < 1.05,
                LIGHT,
            )
        )
    return found


def _speedup(seconds: xr.DataArray) -> xr.DataArray:
    first = seconds.isel(places=0)
    return first * int(seconds.places[0]) / seconds
