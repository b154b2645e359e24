"""From Parquet on an object store to results, as docs/howto/large.md does it, on a local server of S3."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dgsuite
from dgsuite import Graph, InputError
from tests.support.paths import ROOT

server = pytest.importorskip("moto.server", reason="a server of S3: pip install 'moto[server]'")
s3fs = pytest.importorskip("s3fs", reason="fsspec's S3: pip install s3fs")


@pytest.fixture
def bucket(monkeypatch):
    """A bucket on a server of our own, which fsspec finds by its settings."""
    from fsspec.config import conf

    running = server.ThreadedMotoServer("127.0.0.1", 0)
    running.start()
    try:
        host, port = running.get_host_and_port()
        keys = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
        monkeypatch.setitem(conf, "s3", keys)
        s3fs.S3FileSystem.clear_instance_cache()
        files = s3fs.S3FileSystem()
        files.mkdir("bucket")
        yield files
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        running.stop()


def test_the_page_from_parquet_to_results(bucket, capsys):
    buyer, seller = np.random.default_rng(1).integers(0, 500, (2, 3000))
    for part in range(3):
        some = slice(part * 1000, part * 1000 + 1000)
        frame = pd.DataFrame({"buyer": buyer[some], "seller": seller[some]})
        with bucket.open(f"s3://bucket/edges/part{part}.parquet", "wb") as file:
            frame.to_parquet(file)
    page = (ROOT / "docs" / "howto" / "large.md").read_text()
    (block,) = [text for text in page.split("```python\n")[1:] if "s3://" in text[:300]]
    exec(block.partition("```")[0], {})
    names = np.unique([buyer, seller])
    src, dst = np.searchsorted(names, [buyer, seller])
    here = Graph.from_edges(src, dst, n=len(names), duplicates="min", clusters=2, client=None)
    nbytes = Graph.load("s3://bucket/graph", client=None, clusters=2).nbytes
    assert capsys.readouterr().out == f"{here.m} edges, {nbytes} bytes\n"
    assert here.nbytes <= nbytes <= here.nbytes + 8 * here.n  # identifiers
    expected = dgsuite.run("pagerank", here, iterations=20)["rank"].values
    found = dd.read_parquet("s3://bucket/ranks").compute()
    assert found["rank"].tolist() == expected.tolist()
    first = max(bucket.find("bucket/graph"), key=bucket.size)
    bucket.pipe_file(first, bucket.cat_file(first)[:-8])
    with pytest.raises(InputError, match="s3://bucket/graph"):
        Graph.load("s3://bucket/graph", client=None)
    with pytest.raises(InputError, match=r"s3://bucket/none.parquet: no such file"):
        Graph.from_parquet("s3://bucket/none.parquet")
