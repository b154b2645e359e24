"""GAP from the command line: its graphs, sources, weights and trials."""

import json

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.suites import running
from dgsuite.suites.gap import graphs
from dgsuite.suites.gap.options import BENCHMARKS
from tests.support.mains import gap as main


@pytest.fixture
def gap(here, client):
    """Runs the command on the tests' cluster."""
    there = ("--scheduler", client.scheduler.address)
    return lambda arguments: here(main, *there, *arguments.split())


def test_all_kernels_with_their_trials(gap, tmp_path):
    found = gap("--kron 6 --validate --json")
    assert found.returncode == 0, found.stderr
    figures = json.loads(found.stdout)
    assert (figures["graph"], figures["n"]) == ("kron6", 64)
    assert list(figures["kernels"]) == list(BENCHMARKS)
    assert figures["output"] == "results/gap-kron6.nc"
    ds = dgsuite.open(tmp_path / figures["output"])
    for name, kernel in figures["kernels"].items():
        assert kernel["trials"] == kernel["validated"] == BENCHMARKS[name].trials
        assert kernel["processor_seconds"] > 0
        assert 0 < kernel["least_seconds"] <= kernel["median_seconds"] <= kernel["time"]["max"]
        seconds = ds.seconds.sel(kernel=name).dropna("trial").values
        assert seconds.tolist() == [trial["seconds"] for trial in kernel["each"]]


def test_sources_are_the_same_for_all_kernels_and_have_edges(gap):
    found = gap("--urand 5 --degree 1 --kernels bfs,sssp,bc --trials 6 --json")
    each = {name: k["each"] for name, k in json.loads(found.stdout)["kernels"].items()}
    roots = [trial["root"] for trial in each["bfs"]]
    assert [trial["root"] for trial in each["sssp"]] == roots
    assert each["bc"][0]["sources"] == roots[:4]
    assert each["bc"][1]["sources"][:2] == roots[4:]
    degree = np.diff(genval.graph("er", 32, m=32, client=None).to_scipy().indptr)
    assert len(set(roots)) == 6
    assert (degree[roots] > 0).all()
    assert (degree == 0).any()


def test_a_road_network(gap):
    figures = json.loads(gap("--graph road --scale 8 --kernels bfs,cc --trials 2 --json").stdout)
    assert figures["graph"] == "road8"
    assert figures["output"].endswith("gap-road8.nc")
    graph = genval.graph("road", 256, client=None)
    assert 1.15 < graph.m / graph.n < 1.25
    levels = dgsuite.run("bfs", graph, style="serial").level.values
    assert levels.min() == 0
    assert levels.max() > 25  # of 16 rows and columns


@pytest.mark.few(1)
@pytest.mark.parametrize("which", ["web", "twitter"])
def test_directed_graphs_take_all_kernels(gap, which):
    found = gap(f"--graph {which} --scale 7 --trials 1 --validate --json")
    assert found.returncode == 0, found.stderr
    figures = json.loads(found.stdout)
    assert figures["directed"]
    assert [kernel["validated"] for kernel in figures["kernels"].values()] == [1] * len(BENCHMARKS)


def test_a_file_keeps_its_weights_and_its_names(gap, tmp_path):
    (tmp_path / "some.txt").write_text(f"{2**40} 7 3\n7 9 4\n")
    found = gap("--file some.txt --relabel --directed --trials 2 --validate --json")
    assert found.returncode == 0, found.stderr
    figures = json.loads(found.stdout)
    assert (figures["graph"], figures["n"], figures["m"]) == ("some", 3, 2)
    assert figures["directed"]
    assert list(figures["kernels"]) == list(BENCHMARKS)
    roots = [trial["root"] for trial in figures["kernels"]["sssp"]["each"]]
    assert set(roots) == {7, 2**40}
    assert set(figures["kernels"]["bc"]["each"][0]["sources"]) == {7, 2**40}
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"
    (tmp_path / "chain.mtx").write_text(text)
    title, _, row, output = gap("--file chain.mtx --kernels bfs --trials 1").stdout.splitlines()
    assert title.startswith("chain: 3 nodes, 2 edges")
    assert row.split()[:2] == ["bfs", "1"]
    assert output == "results/gap-chain.nc"


@pytest.mark.parametrize("name", ["pr", "bc"])
def test_only_sssp_takes_the_weights_of_a_file(name):
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[1, 5, 9])
    plan = BENCHMARKS[name]
    assert dgsuite.run(plan.kernel, graph, **plan.parameters).attrs["weighted"] == 0


@pytest.mark.parametrize("clusters", [1, 3])
def test_weights_are_uniform_and_the_same_for_any_cut(clusters):
    plain = genval.graph("rmat", 2**10, clusters=clusters, client=None)
    matrix = graphs.weighted(plain, 5).to_scipy()
    values = matrix.data
    assert (matrix != matrix.T).nnz == 0
    assert (values.min(), values.max()) == (1, 255)
    counts = np.bincount(values, minlength=256)[1:]
    assert counts.max() < 2 * counts.mean()
    one = genval.graph("rmat", 2**10, clusters=1, client=None)
    assert (matrix != graphs.weighted(one, 5).to_scipy()).nnz == 0
    assert (matrix != graphs.weighted(one, 6).to_scipy()).nnz > 0
    heavy = graphs.weighted(plain, 5)
    assert graphs.weighted(heavy, 6) is heavy


def test_a_wrong_output_ends_it(gap, monkeypatch):
    run_each = dgsuite.run_each

    def spoilt(*arguments, **options):
        found = run_each(*arguments, **options)
        found[-1]["level"] = found[-1].level + (found[-1].level > 0)
        return found

    monkeypatch.setattr(running.dgsuite, "run_each", spoilt)
    found = gap("--kron 4 --kernels bfs --trials 2 --validate")
    assert found.returncode == 1
    assert found.stderr.startswith("error: trial 2 of bfs is wrong")


WRONG = [
    ("", "give one graph: --kron SCALE, --urand SCALE, --graph NAME --scale SCALE or"),
    ("--graph road", "--graph and --scale belong together"),
    ("--graph road --scale 5 --degree 3", "--degree: graph 'road' has its own"),
    ("--kron 4 --urand 4", "got 2"),
    ("--kron 0", "scale must be at least 1"),
    ("--urand 60", "scale 60 needs about"),
    ("--kron 4 --kernels bfs,prs", "--kernels prs: unknown; one of bfs, "),
    ("--kron 4 --kernels ,", "--kernels []: must have at least 1 value"),
    ("--kron 4 --trials 0", "--trials 0: must be at least 1"),
    ("--kron 4 --degree 0", "--degree 0: must be at least 1"),
    ("--kron 4 --seed -1", "--seed -1: must be at least 0"),
    ("--kron 4 --directed", "--directed is for --file"),
    ("--kron 4 --protocol tcp", "--protocol is for workers of our own"),
    ("--kron 4 -o x.txt", "x.txt: the name must end in .nc"),
    ("--file none.txt", "none.txt: no such file"),
    ("--file loop.txt", "the graph has no edges"),
    ("none.toml", "none.toml: cannot be read"),
    ("wrong.toml", "gap.korn: unknown key; did you mean 'kron'?"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_bad_input_is_one_line(gap, tmp_path, arguments, message):
    (tmp_path / "loop.txt").write_text("1 1\n")
    (tmp_path / "wrong.toml").write_text("[gap]\nkorn = 4\n")
    found = gap(arguments)
    assert (found.returncode, found.stdout) == (2, "")
    (line,) = found.stderr.strip().splitlines()
    assert message in line


def test_kernels_without_sources_run_alone(gap):
    found = gap("--kron 5 --kernels cc,tc --trials 1 --validate --json")
    assert found.returncode == 0, found.stderr
    assert list(json.loads(found.stdout)["kernels"]) == ["cc", "tc"]
