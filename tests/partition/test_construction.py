"""Graphs are built by a distribution sort with runs on disk: the same as a dictionary makes of the edges."""

from __future__ import annotations

import gc
import os
import pickle
from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph
from dgsuite.base.errors import RunError
from dgsuite.base.telling import telling
from dgsuite.partition.clusters.partitioners import Partition, from_owner
from dgsuite.partition.construction import build, shards, spool
from dgsuite.partition.sources import edges
from tests.support.clusters import assert_nothing_kept, client_of
from tests.support.examples import examples
from tests.support.graphs import entries_of
from tests.support.limits import files_of_at_most

pytestmark = pytest.mark.usefixtures("alone")

N = 40
RULES = {"min": min, "max": max, "first": lambda found: found[0], "sum": sum}
NODE = st.one_of(st.integers(0, N - 1), st.sampled_from([3, 7]))  # some rows are long
PIECES = st.lists(st.lists(st.tuples(NODE, NODE, st.integers(-9, 9)), max_size=60), max_size=6)


@st.composite
def partitions(draw):
    """Blocks, some of them empty, or a map of nodes to clusters; and ranges of clusters."""
    if draw(st.booleans()):
        partition = from_owner(np.array(draw(st.lists(st.integers(0, 4), min_size=N, max_size=N))))
    else:
        inner = sorted(draw(st.lists(st.integers(0, N), max_size=4)))
        partition = Partition(np.array([0, *inner, N]))
    inner = draw(st.lists(st.integers(0, partition.clusters), max_size=3))
    return partition, [0, *sorted(inner), partition.clusters]


def plain(pieces, directed, keep, rule):
    """By both ends, what the rule makes of the weights, in the order of the table."""
    found: dict[tuple[int, int], list[int]] = {}
    for u, v, w in (edge for piece in pieces for edge in piece):
        ways = [(u, v)] if directed or u == v else [(u, v), (v, u)]
        for way in ways if u != v or keep else []:
            found.setdefault(way, []).append(w)
    return {way: RULES[rule](weights) for way, weights in found.items()}


@examples(60)
@given(
    pieces=PIECES,
    cut=partitions(),
    flags=st.tuples(*[st.booleans()] * 4),
    rule=st.sampled_from(sorted(RULES)),
    sizes=st.tuples(st.sampled_from([1, 3, 16]), st.sampled_from([1, 5, 64]), st.integers(1, 3)),
    dtypes=st.tuples(st.sampled_from(["i4", "i8", "u8", ">i8"]), st.sampled_from(["i8", "f4"])),
)
def test_as_a_dictionary(pieces, cut, flags, rule, sizes, dtypes):
    """Tiny bands, blocks and runs, all on disk or none, by compiled loops or none."""
    (partition, ranges), (directed, keep, compiled, on_disk) = cut, flags
    plan = build.Plan(directed, rule, keep)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("BANDS", "BLOCK", "SHARDS"), sizes, strict=True):
            patch.setattr(build if name == "BLOCK" else shards, name, value)
        patch.setattr(build, "PARTS", 1 << 20)
        patch.setattr(spool, "ROOM", 0 if on_disk else 1 << 20)
        patch.setattr("dgsuite.base.thresholds.compile_from", -1 if compiled else 1 << 20)
        file = spool.spool("a construction")
        bundles = []
        for piece in pieces:
            src, dst, weights = np.array(piece, np.int64).reshape(-1, 3).T
            columns = src.astype(dtypes[0]), dst.astype(dtypes[0]), weights.astype(dtypes[1])
            made = build.split(columns, partition, plan, ranges)
            bundles.append([shard.kept(file) for shard in made])
        if bundles:  # as if it came from another process
            bundles[-1] = pickle.loads(pickle.dumps(bundles[-1]))
        groups = [
            build.assemble(a, b, partition, None, plan, [m[at] for m in bundles])
            for at, (a, b) in enumerate(pairwise(ranges))
        ]
    clusters = [c for group in groups for c in group]
    assert [c.index for c in clusters] == list(range(partition.clusters))
    for c in clusters:
        assert all((np.diff(c.indices[a:b]) > 0).all() for a, b in pairwise(c.indptr))
    found = {(u, v): w for u, v, w in entries_of(clusters)}
    assert found == plain(pieces, directed, keep, rule)
    ends = sum((u != v) * (2 - directed) for piece in pieces for u, v, _ in piece)
    assert sum(group.tally.ends for group in groups) == ends
    same = sum(u == v for piece in pieces for u, v, _ in piece)
    assert sum(group.tally.loops for group in groups) == same


def test_long_rows_are_sorted_in_parts_of_bounded_size():
    """Most edges of a graph are at its first nodes, and many pieces have few edges."""
    rng = np.random.default_rng(1)
    src, dst = (rng.random((2, 20_000)) ** 8 * 1000).astype(np.int64)
    pieces = zip(np.split(src, 400), np.split(dst, 400), strict=True)
    whole = Partition(np.array([0, 1000]))
    made = [build.split((a, b, None), whole, build.Plan(True), [0, 1]) for a, b in pieces]
    some = shards.fewer([shard for (shard,) in made], None)
    assert len(some) <= shards.SHARDS
    longest = np.bincount(src[src != dst]).max()
    blocks = list(shards.blocks(some, 500))
    assert [b.first for b in blocks] == [0, *(b.last for b in blocks[:-1])]
    assert blocks[-1].last == 1000
    assert sum(block.ends for block in blocks) == (src != dst).sum()
    assert all(block.ends <= 500 or block.last - block.first == 1 for block in blocks)
    assert max(block.ends for block in blocks) == longest


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """All edges wait on disk in a folder."""
    import dask

    monkeypatch.setattr(spool, "ROOM", 0)
    monkeypatch.setattr(edges, "PIECE", 1000)
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        yield tmp_path


def test_nothing_is_left_on_disk(on_disk, monkeypatch):
    files = []
    write = spool.Spool.write

    def written(self, array):
        found = write(self, array)
        files.append(os.fstat(self._file.fileno()))
        assert self.folder == str(on_disk)
        return found

    monkeypatch.setattr(spool.Spool, "write", written)
    Graph.from_edges(np.arange(5000), np.arange(5000)[::-1].copy())
    gc.collect()
    assert len(files) >= 10
    assert not list(on_disk.iterdir())
    assert not spool._spools


def test_a_full_disk_is_one_error(on_disk):
    ends, said = np.arange(5000), rf"building the graph: .*{on_disk.name}.*temporary-dir"
    with files_of_at_most(20_000), pytest.raises(RunError, match=said):
        Graph.from_edges(ends, ends[::-1].copy())
    assert not list(on_disk.iterdir())
    assert Graph.from_edges(ends, ends[::-1].copy()).n == 5000


def test_it_is_told_how_far_construction_is():
    ends, told = da.arange(400, chunks=100), []
    with telling(lambda *how_far: told.append(how_far)):
        Graph.from_edges(ends, ends + 1, n=401)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def _struck(block, what):
    """Amid construction, a worker has no room on its disk, or dies."""
    if len(block) and block[0] == 6000:
        if what == "dies":
            os._exit(1)
        _limit(1000)
    return block


def _limit(nbytes=-1):
    """Edges wait on disk, of which there is so much."""
    import resource

    spool.ROOM = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, resource.RLIM_INFINITY))


@pytest.mark.parametrize("what", ["fills", "dies"])
def test_a_worker_without_room_or_that_dies_leaves_nothing(what, tmp_path):
    pytest.importorskip("resource")
    message = f"sorted in {tmp_path}.*File too large" if what == "fills" else "lost"
    with client_of(2, silence_logs=50, local_directory=str(tmp_path)) as client:
        client.run(_limit)
        ends = da.arange(8000, chunks=1000)
        src = ends.map_blocks(_struck, what, meta=np.empty(0, int))
        said = f"building the graph: .*{message}"
        with pytest.raises(RunError, match=said) as kept:
            Graph.from_edges(src, ends[::-1].rechunk(1000), n=8000, client=client)
        assert_nothing_kept(client)
        assert kept.tb is not None
        assert not [*tmp_path.rglob("dgsuite-*")]
