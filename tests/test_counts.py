"""IMSuite's own counts, from its own inputs: Figure 8 of the paper, and all sizes beside it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import dgsuite
from partition.graph import Graph

DATA = Path(__file__).parents[1] / "configs" / "data"

FIGURE_8 = [  # kernel, kind, finish_async comm, mutexes, clocked comm
    ("bf", "spmin", 1009, 126, 568),
    ("bf", "spmax", 1145, 766, 956),
    ("mis", "spmin", 1463, 1894, 1274),
    ("mis", "spmax", 3204, 3518, 2637),
]


def run(kernel, graph, **options):
    if kernel == "mis":
        options.setdefault("rng", "imsuite")
    return dgsuite.run(kernel, graph, **options)


def graph_of(kernel, kind):
    family = {"bf": "bfs", "mis": "mis-ds"}[kernel]
    return Graph.read_imsuite(DATA / f"{family}_n64_{kind}_s101.txt", kernel)


@pytest.mark.parametrize(("kernel", "kind", "joined", "mutexes", "clocked"), FIGURE_8)
def test_figure_8(client, kernel, kind, joined, mutexes, clocked):
    graph = graph_of(kernel, kind)
    for style, comm in (("finish_async", joined), ("clocked", clocked)):
        ran = run(kernel, graph, style=style, clusters=2, client=client)
        counted = run(kernel, graph, style="serial", count_as=style)
        for ds in (ran, counted):
            assert int(ds.comm.sum()) == comm
            assert int(ds.mutexes.sum()) == mutexes
            assert (ds.asyncs == 64 * ds.finishes).all()


def test_figure_8_lcr(client):
    graph = Graph.read_imsuite(DATA / "ring_n64_s101.txt", "lcr")
    for style, comm in (("finish_async", 12223), ("clocked", 8255)):
        ds = run("lcr", graph, style=style, clusters=2, client=client)
        assert int(ds.messages.sum()) == 4096
        assert (ds.messages == 64).all()
        assert int(ds.comm.sum()) == comm
        assert int(ds.mutexes.sum()) == 0
        assert (ds.leader == 64).all()


def test_serial_counts_nothing_of_the_sort():
    ds = run("mis", graph_of("mis", "spmax"), style="serial")
    assert not any(int(ds[v].sum()) for v in ("comm", "mutexes", "finishes", "asyncs", "barriers"))


def test_mis_without_faithful_repeats_less():
    graph = graph_of("mis", "spmax")
    faithful = run("mis", graph)
    textbook = run("mis", graph, faithful=False)
    np.testing.assert_array_equal(faithful.in_mis, textbook.in_mis)
    assert int(textbook.messages.sum()) < int(faithful.messages.sum())


def rows(shared):
    with open(shared / "imsuite-inputs" / "expected-counts.csv") as file:
        yield from csv.DictReader(file)


def test_every_expected_count(shared):
    """BF, MIS and LCR at n = 8 to 128: communication, mutexes, rounds."""
    names = {"BF": "bf", "LCR": "lcr", "MIS(MT19937 X10-2.3)": "mis"}
    seen = 0
    for row in rows(shared):
        if row["kernel"] not in names:
            continue
        kernel = names[row["kernel"]]
        graph = Graph.read_imsuite(shared / "imsuite-inputs" / "generated" / row["file"], kernel)
        style = {"FA": "finish_async", "FAC": "clocked"}[row["variant"]]
        ds = run(kernel, graph, style="serial", count_as=style)
        assert int(ds.comm.sum()) == int(row["comm"]), row
        assert int(ds.mutexes.sum()) == int(row["mutex"]), row
        if row["rounds_or_phases"]:
            # our MIS ends with a round of its own, in which those left over join
            extra = 1 if kernel == "mis" else 0
            assert ds.sizes["round"] - extra == int(row["rounds_or_phases"]), row
        if kernel == "mis":
            assert f"size={int(ds.in_mis.sum())};" in row["notes"]
        seen += 1
    assert seen == 50
