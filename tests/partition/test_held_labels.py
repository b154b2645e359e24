"""Labels that stay on the workers: they are those that would be in this process, and so are results."""

import uuid

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import dgsuite
from dgsuite import Graph, InputError, genval
from dgsuite.partition.client import session
from dgsuite.partition.client.settings import GATHER, gathered
from dgsuite.partition.labels.held_labels import HeldLabels
from tests.support.graphs import same

RNG = np.random.default_rng(8)
ENDS = RNG.integers(0, 90, (2, 300))
COLUMNS = ["source", "target"]
NAMES = {
    "text": np.array([f"user {i:02}" for i in range(90)], object),
    "longer": np.array(["é" * (i // 9) + "日本\0" + chr(65 + i) for i in range(90)], object),
    "int64": np.sort(RNG.choice(2**62, 90, replace=False)) - 2**61,
    "uint64": np.sort(RNG.choice(2**62, 90, replace=False)).astype(np.uint64) * np.uint64(4),
    "uuid": np.array([uuid.UUID(int=i * 7919) for i in range(90)], object),
}


@pytest.fixture(scope="module")
def frames():
    """By kind of the identifiers, an edge list in Dask's dataframe."""
    tables = {kind: pd.DataFrame(names[ENDS].T, columns=COLUMNS) for kind, names in NAMES.items()}
    with dask.config.set({"dataframe.convert-string": False}):
        return {kind: dd.from_pandas(table, npartitions=4) for kind, table in tables.items()}


def both(client, frame, **options):
    """The same graph with its labels on the workers, and here."""
    with dask.config.set({GATHER: 0}):
        held = Graph.from_dataframe(frame, client=client, **options)
    with gathered():
        here = Graph.from_dataframe(frame, client=client, **options)
    assert isinstance(held.labels, HeldLabels)
    assert not isinstance(here.labels, HeldLabels)
    return held, here


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", NAMES)
def test_labels_on_workers_are_those_here(client, frames, kind):
    held, here = both(client, frames[kind], clusters=3)
    same(held, here)
    labels, expected = held.labels, here.labels
    assert (len(labels), labels.none) == (len(expected), expected.none)
    assert labels == expected
    assert labels.array.dtype == expected.array.dtype
    assert labels.here().array.tolist() == expected.array.tolist()
    assert (labels[7], labels[-1]) == (expected[7], expected[-1])
    assert type(labels[7]) is type(expected[7])
    nodes = np.array([[3, -1, 80], [3, 41, 0]])
    assert labels.of(nodes).tolist() == expected.of(nodes).tolist()
    assert labels.dtype == expected.dtype
    for few in (expected.array[[5, 70]], expected.array):
        assert labels.nodes(few).tolist() == expected.nodes(few).tolist()
    assert labels.node(expected[33]) == 33
    for wrong in ("nobody", 7, 0.5, None, (1, 2)):
        assert labels.nodes([wrong], missing=True).tolist() == [-1]
        with pytest.raises(InputError, match=r"is not a node.*Nodes have labels, such as"):
            labels.node(wrong)
    with pytest.raises(IndexError):
        labels[len(labels)]
    assert held.compute().labels == expected


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", NAMES)
def test_labels_on_workers_are_stored_there(client, client_of_one, frames, kind, tmp_path):
    held, here = both(client, frames[kind], clusters=3)
    held.save(tmp_path)
    with dask.config.set({GATHER: 0}):
        again = Graph.load(tmp_path, client=client)
        fewer = Graph.load(tmp_path, client=client_of_one)
    for graph in (again, fewer):
        assert isinstance(graph.labels, HeldLabels)
        assert graph.labels == here.labels
        assert graph.labels.dtype == here.labels.dtype
        same(graph, here)
    assert not isinstance(Graph.load(tmp_path, client=client).labels, HeldLabels)  # they are few
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "current_client", lambda client: client)
        assert Graph.load(tmp_path).labels == here.labels
    again.save(tmp_path)  # over the files that it was read from
    assert len(list(tmp_path.glob("labels-*"))) == 2
    (first, _) = sorted(tmp_path.glob("labels-*"))
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(InputError, match=f"{first.name}: is damaged"):
        Graph.load(tmp_path, client=client)


def test_nothing_large_comes_to_the_client(client, tmp_path, brought):
    """A graph, its labels and results are read, kept and written by the workers."""
    ends = RNG.integers(0, 30_000, (2, 60_000))
    names = np.array([f"a user with the number {i:05}" for i in range(30_000)])
    table = pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]})
    dd.from_pandas(table, npartitions=4).to_parquet(tmp_path / "edges")
    with dask.config.set({GATHER: 0}), client.as_current():
        graph = Graph.from_parquet(tmp_path / "edges", clusters=4)
        graph.save(tmp_path / "graph")
        graph = Graph.load(tmp_path / "graph")
        found = dgsuite.run("pagerank", graph)
        assert found["rank"].chunks == (tuple(np.diff(graph.partition.offsets)),)
        dgsuite.to_dataframe(found).to_parquet(tmp_path / "ranks")
        # Zarr's chunks are all of one size
        found[["rank"]].chunk(node=10_000).to_zarr(tmp_path / "ranks.zarr")
        assert sum(brought) < 4 * graph.n  # half of the ranks, a seventh of the labels
        ranks = found["rank"].values
        chosen = np.arange(graph.n) % 3 > 0
        brought.clear()
        part = graph.subgraph(chosen)
        assert sum(brought) < part.n
        assert isinstance(part.labels, HeldLabels)
    with gathered():
        few = graph.subgraph(chosen)
    assert not isinstance(few.labels, HeldLabels)
    assert list(part.labels) == list(few.labels) == np.array(list(graph.labels))[chosen].tolist()
    same(part, few)
    assert part.labels.ascending
    assert few.labels.ascending
    assert dgsuite.run("wcc", part).component[0].values == part.labels[0]
    written = pd.read_parquet(tmp_path / "ranks")
    assert written.node.tolist() == sorted(set(names[ends.ravel()]))
    assert written["rank"].to_numpy() == pytest.approx(ranks)
    stored = xr.open_zarr(tmp_path / "ranks.zarr")
    assert (stored["rank"].values == ranks).all()
    assert stored.node.values.tolist() == written.node.tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("partition", ["nodes", "hash"])
@pytest.mark.parametrize("kind", ["text", "uuid"])
def test_results_are_where_the_labels_are(client, frames, kind, partition, tmp_path):
    held, here = both(client, frames[kind], clusters=3, partition=partition)
    how = {"style": "clocked", "client": client, "root": here.labels[50]}
    with client.as_current():
        found, expected = dgsuite.run("bfs", held, **how), dgsuite.run("bfs", here, **how)
        assert found.attrs["root"] == expected.attrs["root"]
        for name in ("level", "parent", "node"):
            assert found[name].chunks == ((30, 30, 30),)
            assert found[name].dtype == expected[name].dtype
            assert found[name].values.tolist() == expected[name].values.tolist()
        assert genval.validate("bfs", held, found).ok
        frame, plain = (dgsuite.to_dataframe(ds).compute() for ds in (found, expected))
        pd.testing.assert_frame_equal(frame, plain)
        dgsuite.save(found, tmp_path / "ds.nc")
        assert dgsuite.open(tmp_path / "ds.nc").parent.identical(expected.parent)


def test_results_are_selected_and_aligned_by_label(client, frames):
    held, here = both(client, frames["text"], clusters=3)
    names = here.labels.array
    with client.as_current():
        how = {"style": "clocked", "client": client}
        ranks, parts = (dgsuite.run(kernel, held, **how) for kernel in ("pagerank", "wcc"))
        plain = dgsuite.run("pagerank", here, **how)
        # two runs on one graph
        joined = ranks.assign(component=parts.component)
        assert joined.component.chunks is not None
        total = (ranks["rank"] * (parts.component == names[0])).sum()
        assert float(total) == pytest.approx(1)
        # selection
        some = names[[3, 60, 7]]
        assert float(ranks["rank"].sel(node=some[0])) == plain["rank"].sel(node=some[0])
        chosen = ranks["rank"].sel(node=some)
        assert chosen.compute().identical(plain["rank"].sel(node=some))
        assert ranks["rank"][5:9].node.values.tolist() == names[5:9].tolist()
        assert ranks["rank"].sel(node=slice(names[5], names[8])).size == 4
        with pytest.raises(KeyError, match="'nobody' is not a node"):
            ranks.sel(node="nobody")
        # with data of the user's own, by label
        ages = xr.DataArray([30, 40], coords={"node": [names[9], "nobody"]}, dims="node")
        usual = ranks.drop_indexes("node").set_xindex("node")
        product = usual["rank"] * ages
        assert product.node.values.tolist() == [names[9]]
        assert product.values.tolist() == [30 * float(plain["rank"][9])]
        with pytest.raises(ValueError, match="conflicting indexes"):
            ranks["rank"] * ages
        assert ranks["rank"].to_series().equals(plain["rank"].to_series())
        # another graph with some of the nodes
        fewer, _ = both(client, frames["text"].partitions[:1], clusters=2)
        other = dgsuite.run("pagerank", fewer, **how)
        left, right = xr.align(ranks["rank"], other["rank"], join="inner")
        assert left.node.values.tolist() == list(fewer.labels) == right.node.values.tolist()
        assert left.values.tolist() == plain["rank"].sel(node=list(fewer.labels)).values.tolist()
