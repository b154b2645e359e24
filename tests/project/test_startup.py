"""What a fresh process has to import and compile before its first result."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import dgsuite
from dgsuite.base import thresholds
from dgsuite.partition.graph.graph import Graph
from tests.support.processes import python


def fresh(code, *arguments, how="-c", **environment):
    """What a new process prints, and its standard error."""
    found = python(how, code, *arguments, **environment)
    assert not found.returncode, found.stderr
    return found.stdout, found.stderr


HEAVY = """
import sys, dgsuite
heavy = "dask", "distributed", "xarray", "numba", "matplotlib", "scipy", "networkx", "pandas"
found = [m for m in heavy if m in sys.modules]
import numpy as np
nodes = np.arange(77)
ring = dgsuite.Graph.from_edges(nodes, (nodes + 1) % 77, clusters=3)
for kernel in ("bf", "bfs", "mis", "sssp", "lcr", "hs", "dp", "ds", "kc"):
    for style in (None, "serial"):
        dgsuite.run(kernel, ring, style=style)
heavy = "numba", "scipy", "dask.array", "distributed", "h5py", "matplotlib", "networkx"
print(found, [m for m in heavy if m in sys.modules])
"""
OTHERS = """
import sys, dgsuite
dgsuite.run("bfs", dgsuite.Graph.from_edges([0, 1], [1, 2]))
folders = "dgsuite.kernels.analytics.", "dgsuite.kernels.imsuite."
print([m for m in sys.modules if m.startswith(folders)])
"""
FAITHFUL = """
from dgsuite.kernels import KERNELS
print(type(KERNELS["by"](faithful=True)).__name__, type(KERNELS["lcr"](faithful=True)).__name__)
"""
RECURSIVE = """
from dgsuite.kernels import MIS
from dgsuite.kernels.imsuite.bfs_dijkstra.recursive import RecursiveDijkstra
print(type(MIS(faithful=True)).__name__, type(RecursiveDijkstra(0, True)).__name__)
"""
ACCESSOR = "import dgsuite, xarray; dgsuite.open; print(hasattr(xarray.Dataset, 'dgsuite'))"
SIGNATURE = """
import dgsuite
print("faithful=False" in str(dgsuite.list_kernels().lcr.__signature__))
"""
UNLOCKED = """
import sys
sys._is_gil_enabled = lambda: False
try:
    import dgsuite
except ImportError as error:
    print(error)
"""
REFUSED = (
    "dgsuite needs the global interpreter lock, which is off in this free-threaded Python; set "
    "PYTHON_GIL=1, or use the usual build of Python"
)


PRINTED = {
    "heavy": (HEAVY, "[] []"),
    "others": (OTHERS, "['dgsuite.kernels.analytics.bfs']"),
    "accessor": (ACCESSOR, "True"),
    "signature": (SIGNATURE, "True"),
    "faithful": (FAITHFUL, "FaithfulByzantine FaithfulLCR"),
    "recursive": (RECURSIVE, "FaithfulMIS FaithfulRecursiveDijkstra"),
    "unlocked": (UNLOCKED, REFUSED),
}


@pytest.mark.parametrize(("code", "printed"), PRINTED.values(), ids=PRINTED)
def test_what_a_new_process_prints(code, printed):
    """Neither an import nor a small run needs a heavy package, or another kernel, which takes longer than it;
    datasets and faithful forms are there where nothing has imported them; a Python without a lock is refused.
    """
    assert fresh(code)[0] == f"{printed}\n"


@pytest.mark.parametrize("kernel", ["bfs", "cdlp", "hits", "leiden", "pagerank", "sssp", "wcc"])
def test_an_answer_is_the_same_before_loops_are_loaded_and_after(monkeypatch, kernel):
    """With reading: outputs and counts, of several clusters of a graph that loops are made for."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame((rng.random((40_000, 2)) ** 2 * 8000).astype(int), columns=["a", "b"])
    table["w"] = rng.random(len(table))
    how = {"directed": kernel == "hits", "duplicates": "min", "clusters": 3, "client": None}
    found = []
    for left in (1 << 60, 0):
        monkeypatch.setattr(thresholds, "left_to_numpy", left)
        graph = Graph.from_dataframe(table, "a", "b", "w", **how)
        ds = dgsuite.run(kernel, graph, style="serial")
        found.append(ds.drop_vars([name for name in ds.variables if name.endswith("_seconds")]))
    assert found[0].equals(found[1])


ANSWER = """
import sys, numpy as np, pandas as pd, dgsuite
rng = np.random.default_rng(1)
ends = (rng.random((100_000, 2)) ** 2 * 20_000).astype(int)
graph = dgsuite.Graph.from_dataframe(
    pd.DataFrame(ends, columns=["source", "target"]), "source", "target", duplicates="min")
for kernel in ("pagerank", "wcc", "bfs"):
    dgsuite.run(kernel, graph)
graph.degree.compute()
print("numba" in sys.modules)
"""


def test_a_first_answer_needs_no_compiler(tmp_path):
    """Nor do later ones, until NumPy has taken longer than loading loops."""
    assert fresh(ANSWER, NUMBA_CACHE_DIR=str(tmp_path))[0] == "False\n"


@pytest.mark.parametrize("kept", [False, True])
def test_loops_are_loaded_once_numpy_has_taken_as_long(monkeypatch, tmp_path, kept):
    """Sooner where they are kept; at once for very many elements; never for few."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    if kept:
        folder = tmp_path / "dgsuite" / f"{dgsuite.__version__}-cpu" / "_compiled-0"
        folder.mkdir(parents=True)
        (folder / "loop.nbi").touch()
    monkeypatch.setattr(thresholds, "left_to_numpy", None)
    turns = (thresholds.LOAD_AFTER if kept else thresholds.COMPILE_AFTER) // (1 << 20)
    assert [thresholds.compiles(1 << 20) for _ in range(turns)] == [*[False] * (turns - 1), True]
    assert not thresholds.compiles(thresholds.compile_from)
    monkeypatch.setattr(thresholds, "left_to_numpy", None)
    assert not thresholds.compiles(thresholds.compile_from + 1)
    assert thresholds.compiles(thresholds.compile_at_once + 1)
    assert thresholds.compiles(thresholds.compile_from + 1)


COMPILING = """
import json, numpy as np
from dgsuite.base import compiling, kept_loops
compiling.SOON = 1e-9  # however fast the machine is
from dgsuite.partition.arrays import _compiled
for dtype in (np.int32, np.int64):
    assert _compiled.tally(np.arange(4, dtype=dtype), np.array([1, 3])) == 4
for _ in range(2):
    kept_loops.tell("bfs")
print(json.dumps([compiling.notice.seconds, len(_compiled.tally.stats.cache_misses)]))
"""


def test_loops_are_compiled_once_and_it_is_said(tmp_path):
    """The first process compiles and says so in one line; the next loads what was kept, where only the user
    can write.
    """
    printed, said = fresh("import os; os.umask(0)" + COMPILING, NUMBA_CACHE_DIR=str(tmp_path))
    seconds, misses = json.loads(printed)
    assert seconds > 0
    assert misses == 2
    assert said.count("\n") == 1
    assert said.startswith(f"bfs: compiling 2 loops took {seconds:.1f} s; ")
    assert "`dgsuite compile`" in said
    printed, said = fresh(COMPILING, NUMBA_CACHE_DIR=str(tmp_path))
    assert json.loads(printed) == [0.0, 0]
    assert said == ""
    kept = [*tmp_path.rglob("*.nbi")]
    assert kept
    for folder in {parent for path in kept for parent in path.relative_to(tmp_path).parents[:-1]}:
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("wrong", ["a file", "others can write to it"])
def test_loops_without_a_folder_to_keep_them_in(tmp_path, wrong):
    """They are compiled anew, once more in each process, and it is said how to mend that."""
    if wrong == "a file":
        (tmp_path / "dgsuite").write_text("")
    else:
        (tmp_path / "dgsuite").mkdir()
        (tmp_path / "dgsuite").chmod(0o777)
    printed, said = fresh(COMPILING, NUMBA_CACHE_DIR=str(tmp_path))
    assert json.loads(printed)[0] > 0
    assert said.count("must be writable by you alone; set NUMBA_CACHE_DIR to another folder") == 1
    assert not [*tmp_path.rglob("*.nbi")]


MISSED = """
import sys, numpy as np, pandas as pd, dgsuite
from numba.core import event
from dgsuite.base import thresholds

missed = []
class Listener(event.Listener):
    def on_start(self, event): pass
    def on_end(self, event): missed.append(event.data["dispatcher"].py_func.__name__)
event.register("numba:compile", Listener())
thresholds.compile_without_delay()
table = pd.DataFrame(
    np.random.default_rng(1).integers(0, 10_000, (50_000, 2)), columns=["source", "target"])
graph = dgsuite.Graph.from_dataframe(table, "source", "target", duplicates="min")
for kernel in sys.argv[1:]:
    dgsuite.run(kernel, graph)
print(missed)
"""


@pytest.mark.parametrize("kernels", [["wcc"], pytest.param([], marks=pytest.mark.long)])
def test_the_command_compiles_what_kernels_need(tmp_path, kernels):
    from dgsuite.faces.cli.compile import COMMON

    printed, said = fresh("dgsuite", "compile", *kernels, how="-m", NUMBA_CACHE_DIR=str(tmp_path))
    assert printed.strip() == str(next((tmp_path / "dgsuite").iterdir()))
    assert said == ""
    after = fresh(MISSED, *(kernels or COMMON), NUMBA_CACHE_DIR=str(tmp_path))[0]
    assert after == "[]\n"


def test_one_of_the_processes_that_need_a_loop_compiles_it(tmp_path):
    """The others wait, and load it. Code for two types, kept at the same time, is in two files."""
    code = """
import sys, numpy as np
from dgsuite.partition.arrays import _compiled
for kind in sys.argv[1:]:
    _compiled.expand(np.array([0, 5], kind), np.array([2, 1], kind), 3)
print(sum(_compiled.expand.stats.cache_misses.values()))
"""

    def misses(*kinds):
        return int(fresh(code, *kinds, NUMBA_CACHE_DIR=str(tmp_path))[0])

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(misses, ("int64", "int64", "int32"))) == [0, 1, 1]
    assert misses("int32", "int64") == 0


def test_a_loop_that_cannot_be_compiled_holds_up_no_other_process(tmp_path, monkeypatch):
    from numba import TypingError

    from dgsuite.base import compiling

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)

    def wrong(x):
        return x + "1"

    made = compiling.compiled(wrong)
    with pytest.raises(TypingError):
        made(1)
    assert made._cache._turn is None
    waits = compiling.Cache(wrong)
    made._cache._take_turn()
    waits._take_turn()  # another process's turn does not end, and this one has no patience left
    for cache in (made._cache, waits):
        cache.end_turn()


def test_a_dataset_is_as_xarray_makes_it():
    """It is put together of parts; xarray's own way finds nothing to add or to change."""
    import networkx as nx
    import xarray as xr

    named = nx.relabel_nodes(nx.cycle_graph(9), "abcdefghi".__getitem__)
    for graph in (named, nx.cycle_graph(9)):
        for kernel in ("bf", "dr"):
            ds = dgsuite.run(kernel, Graph.from_networkx(graph, client=None), style="serial")
            same = xr.Dataset(dict(ds.data_vars), dict(ds.coords), ds.attrs)
            assert ds.identical(same)
            assert ds.sizes == same.sizes
            assert ds.xindexes.dims == same.xindexes.dims
            for name, index in same.xindexes.items():
                assert index.equals(ds.xindexes[name])
                assert ds[name].dtype == same[name].dtype
    ds["round"].attrs["long_name"] = "changed"
    ds = dgsuite.run(kernel, Graph.from_networkx(graph, client=None), style="serial")
    assert ds["round"].attrs["long_name"] == "round"
