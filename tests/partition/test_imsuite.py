"""IMSuite's input files: all that were released or generated can be read, and malformed ones not."""

import numpy as np
import pytest

from dgsuite import Graph, InputError
from dgsuite.partition.sources.imsuite import KERNELS, read
from tests.support.originals import FAMILIES
from tests.support.originals import ORIGINALS as PROGRAMS

ORIGINALS = {f"input{name}": kernel for name, kernel in PROGRAMS.items()}


def check(path, kernel, n):
    """A file reads, and is what its name says."""
    graph = Graph.read_imsuite(path, kernel, clusters=1)
    assert (graph.n, graph.local) == (n, True)
    assert graph.weighted == (kernel in ("dr", "mst"))
    uid = graph.parts[0].uid
    if kernel in ("lcr", "hs", "kc", "dp"):
        assert sorted(uid) == list(range(1, n + 1))
    else:
        assert uid.tolist() == list(range(n))
    if kernel in ("lcr", "hs"):
        assert graph.m == n
    elif "spmin" in path.name or "chain" in path.name or "star" in path.name:
        assert graph.m == n - 1
    elif "cplt" in path.name:
        assert graph.m == n * (n - 1) // 2
    if kernel in ("bf", "dst", "vc"):
        assert 0 <= graph.attrs["root"] < n
    if kernel == "vc":
        linked = graph.to_scipy()
        assert all(linked[i, p] for i, p in enumerate(graph.attrs["parents"]) if i != p)
    if kernel == "by":
        assert len(graph.attrs["votes"]) == n
        assert len(set(graph.attrs["traitors"])) == n // 8 - 1
    if kernel == "kc":
        assert graph.attrs["k"] >= 1


def test_every_generated_file_reads(imsuite_inputs):
    assert {k for ks in FAMILIES.values() for k in ks} == set(KERNELS)
    paths = sorted((imsuite_inputs / "generated").iterdir())
    assert len(paths) > 100
    for path in paths:
        for kernel in FAMILIES[path.name.split("_")[0]]:
            check(path, kernel, int(path.name.split("_n")[1].split("_")[0]))


def test_every_released_file_reads(imsuite_inputs):
    paths = sorted(imsuite_inputs.glob("original-*/*.txt"))
    assert len(paths) > 100
    for path in paths:
        kernel = next(k for start, k in ORIGINALS.items() if path.name.startswith(start))
        n = next(int(part) for part in path.stem.split("_") if part.isdigit())
        graph = Graph.read_imsuite(path, kernel, clusters=1)
        assert graph.n == n
        # the release has the file of the other kind under this name
        if "mst" not in path.name:
            check(path, kernel, n)


def test_what_is_read(tmp_path):
    text = "3\n2\n010\n101\n010\n"
    graph = Graph.read_imsuite(file(tmp_path, text), "BF", clusters=2)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.attrs == {"root": 2}
    text = "3\n010\n101\n010\n \n" + "\n".join(map(str, [0, 5, 9, 5, 0, -7, 9, -7, 0]))
    graph = Graph.read_imsuite(file(tmp_path, text), "dr")
    assert graph.to_scipy().toarray().tolist() == [[0, 5, 0], [5, 0, -7], [0, -7, 0]]
    ring = read(file(tmp_path, "3\n4\n0\n9"), "lcr")
    assert (ring.src.tolist(), ring.dst.tolist()) == ([0, 1, 2], [1, 2, 0])
    assert ring.uid.tolist() == [4, 0, 9]
    assert Graph.read_imsuite(file(tmp_path, "1\n0\n"), "mis").m == 0
    assert Graph.read_imsuite(file(tmp_path, "2\n11\n11\n"), "mis").m == 1
    windows = Graph.read_imsuite(file(tmp_path, "2\r\n01\r\n10\r\n"), "mis")
    assert windows.m == 1
    part = np.array([1, 0, 1])
    assert len(Graph.read_imsuite(file(tmp_path, "3\n1\n2\n3"), "lcr", partition=part).parts) == 2


def file(tmp_path, text):
    path = tmp_path / "in.txt"
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.mark.parametrize(
    ("kernel", "text", "message"),
    [
        ("mis", "3\n010\n10\n000\n", r"line 3: adjacency row 1 must have 3 digits, found 2"),
        ("mis", "3\n010\n101\n", r"line 4: the file ends where adjacency row 2"),
        ("mis", "3\n010\n1x1\n010\n", r"line 3: .* digits 0 and 1, found 'x'"),
        ("mis", "3\n010\n001\n010\n", r"not symmetric: entries \(0, 1\) and \(1, 0\)"),
        ("mis", "three\n", r"line 1: expected the number of nodes.*'three'"),
        ("mis", "0\n", "must be at least 1"),
        ("mis", "", "the file ends where the number of nodes"),
        ("mis", "2\n01\n10\n7\n", r"line 4: unexpected text after the end: '7'"),
        ("mis", "2\n\xe4\n", "not a text file"),
        ("bf", "2\n2\n01\n10\n", r"line 2: the root must be from 0 to 1, found 2"),
        ("kc", "2\n0\n01\n10\n1\n2\n", r"line 2: the committee size K must be at least 1"),
        ("lcr", "3\n1\n2\n", "the file ends where an identifier"),
        ("lcr", "3\n1\n2\n2\n", "the same identifier 2"),
        ("lcr", "3\n1\n2\nz\n", r"line 4: .*'z'"),
        ("lcr", "3\n1\n2\n-1\n", r"line 4: an identifier must be at least 0, found -1"),
        ("dr", "2\n01\n10\n \n0\n1\n1\n", "the file ends where a weight"),
        ("dr", "2\n01\n10\n \n0\n1\n2\n0\n", r"edge \(0, 1\) has two weights: 1 in row 0, 2 in"),
        ("mst", "2\n01\n10\n \n0\n1\n1.5\n0\n", "expected a weight, an integer"),
        ("by", "2\n01\n10\n \n012\n", r"line 5: the votes must have 2 digits, found 3"),
        ("vc", "2\n0\n01\n10\n \n0\n2\n", "a parent must be from 0 to 1, found 2"),
    ],
)
def test_malformed_files(tmp_path, kernel, text, message):
    with pytest.raises(InputError, match=message) as caught:
        Graph.read_imsuite(file(tmp_path, text), kernel)
    assert "\n" not in str(caught.value)
    if "identifier 2" not in message:
        assert "in.txt" in str(caught.value)


def test_missing_files_and_formats(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        Graph.read_imsuite(tmp_path / "none.txt", "mis")
    with pytest.raises(InputError, match="no IMSuite input format for kernel 'nope'; one of bf"):
        Graph.read_imsuite(file(tmp_path, "1\n"), "nope")
