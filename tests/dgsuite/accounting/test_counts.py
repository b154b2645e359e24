"""IMSuite's own counts, from its own inputs: Figure 8 of the paper, and all sizes beside it."""

import csv
import re
from collections import Counter

import numpy as np
import pytest

import dgsuite
from dgsuite.partition.graph.graph import Graph
from tests.support.paths import DATA, ROOT

INPUTS = ROOT / "configs" / "data"

FIGURE_8 = [  # kernel, file, finish_async comm, mutexes, clocked comm
    ("bf", "bfs_n64_spmin_s101", 1009, 126, 568),
    ("bf", "bfs_n64_spmax_s101", 1145, 766, 956),
    ("lcr", "ring_n64_s101", 12223, 0, 8255),
    ("mis", "mis-ds_n64_spmin_s101", 1463, 1894, 1274),
    ("mis", "mis-ds_n64_spmax_s101", 3204, 3518, 2637),
]


def run(kernel, graph, **options):
    return dgsuite.run(kernel, graph, **{"faithful": True, **options})


@pytest.mark.parametrize(("kernel", "file", "joined", "mutexes", "clocked"), FIGURE_8)
def test_figure_8(client, kernel, file, joined, mutexes, clocked):
    graph = Graph.read_imsuite(INPUTS / f"{file}.txt", kernel)
    for style, comm in (("finish_async", joined), ("clocked", clocked)):
        ran = run(kernel, graph, style=style, clusters=2, client=client)
        counted = run(kernel, graph, style="serial", count_as=style)
        for ds in (ran, counted):
            assert int(ds.comm.sum()) == comm
            assert int(ds.mutexes.sum()) == mutexes
            assert (ds.asyncs == 64 * ds.finishes).all()


def test_serial_counts_nothing_of_the_sort():
    ds = run("mis", Graph.read_imsuite(INPUTS / "mis-ds_n64_spmax_s101.txt", "mis"), style="serial")
    assert not any(int(ds[v].sum()) for v in ("comm", "mutexes", "finishes", "asyncs", "barriers"))


def rows():
    with open(DATA / "expected-counts.csv") as file:
        yield from csv.DictReader(file)


def rounds(row, ds):
    """What the row's number of rounds is in terms of the dataset's."""
    found = ds.sizes["round"]
    if row["kernel"] == "BY":  # rounds of votes in each of n / 8 + 1 iterations
        return found / (int(row["n"]) // 8 + 1)
    return found


def test_every_expected_count(imsuite_inputs):
    """All twelve kernels at n = 8 to 128: communication, mutexes, rounds."""
    seen = Counter()
    for row in rows():
        name, _, generator = row["kernel"].partition("(")
        kernel = name.lower()
        graph = Graph.read_imsuite(imsuite_inputs / "generated" / row["file"], kernel)
        style = {"FA": "finish_async", "FAC": "clocked"}[row["variant"]]
        options = {"rng": "imsuite-2.6"} if generator.startswith("SplitMix") else {}
        ds = run(kernel, graph, style="serial", count_as=style, **options)
        assert int(ds.comm.sum()) == int(row["comm"]), row
        assert int(ds.mutexes.sum()) == int(row["mutex"]), row
        if row["rounds_or_phases"]:
            assert rounds(row, ds) == int(row["rounds_or_phases"]), row
        if size := re.search(r"size=(\d+);", row["notes"]):
            assert int(ds[{"mis": "in_mis", "ds": "in_ds"}[kernel]].sum()) == int(size[1])
        if committees := re.search(r"committees=(\d+);", row["notes"]):
            assert len(np.unique(ds.committee)) == int(committees[1])
        seen[kernel] += 1
    assert seen == {
        **dict.fromkeys(("mis", "ds"), 40),
        **dict.fromkeys(("bf", "dst", "dp", "kc", "vc"), 20),
        **dict.fromkeys(("by", "dr", "mst"), 16),
        **dict.fromkeys(("lcr", "hs"), 10),
    }
