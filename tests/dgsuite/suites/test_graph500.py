"""Graph500 from the command line, and its statistics."""

import json

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.genval.families import plan
from dgsuite.suites import running, sources
from dgsuite.suites.graph500 import problem, report, search
from tests.support.mains import graph500 as main
from tests.support.processes import python


def test_json_on_the_command_line():
    how = "-m dgsuite graph500 --scale 7 --workers 2 --compare scipy --json"
    found = python(*how.split(" "))
    assert found.returncode == 0, found.stderr
    figures = json.loads(found.stdout)
    assert figures["roots"] == figures["validated"] == 64
    for name in ("median_seconds", "construction_seconds", "wire_bytes"):
        assert figures[name] > 0
    assert figures["compare"]["scipy"]["median_seconds"] > 0
    nedge, time = figures["nedge"], figures["time"]
    assert 0 < nedge["min"] <= nedge["max"] <= 16 * 2**7
    assert figures["harmonic_mean_teps"] <= nedge["max"] / time["min"]


def test_the_format_of_the_specification(here):
    found = here(main, "--scale", 6, "--roots", 5, "--direction", "top-down")
    assert found.returncode == 0, found.stderr
    lines = dict(line.rsplit(": ", 1) for line in found.stdout.splitlines())
    assert lines["SCALE"] == "6"
    assert lines["NBFS"] == "5"
    assert lines["bfs  validated"] == "5 of 5"
    for name in ("bfs  median_time", "bfs  harmonic_mean_TEPS", "bfs  harmonic_stddev_TEPS"):
        assert float(lines[name]) > 0


def test_a_file_says_what_to_run_and_flags_override_it(here, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text('[graph500]\nscale = 7\nkernel = "sssp"\nroots = 9\nworkers = 1\n')
    found = here(main, file, "--roots", 3, "--json")
    assert found.returncode == 0, found.stderr
    figures = json.loads(found.stdout)
    assert (figures["scale"], figures["kernel"], figures["workers"]) == (7, "sssp", 1)
    assert figures["roots"] == figures["validated"] == 3


WRONG = [
    ("--scale 0", "scale must be at least 1"),
    ("--scale 38", "scale 38 needs about"),
    ("--scale 8 --root 256", "--root 256 is not a node: nodes are 0 to 255"),
    ("--scale 8 --roots 0", "--roots 0: must be at least 1"),
    ("--scale 8 --seed -1", "--seed -1: must be at least 0"),
    ("--scale 8 --protocol tls", "protocol tls: TLS expects"),
    ("--scale 8 --scheduler here", "an address is like tcp://"),
    ("--scale 8 --partition 2d --grid 1x1", "1x1 does not match 2 workers"),
    ("", "--scale is missing"),
    ("--scale 8 --kernel sssp --partition 2d", "runs on --partition 1d alone"),
    ("--scale 8 --compare mpi", "unknown; one of scipy, graphblas, networkit"),
    ("wrong.toml", "graph500.scales: unknown key; did you mean 'scale'?"),
    ("wrong.toml", "graph500.scale: missing"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_bad_input_is_explained(here, tmp_path, arguments, message):
    (tmp_path / "wrong.toml").write_text("[graph500]\nscales = 7\n")
    found = here(main, *arguments.split())
    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1 + arguments.startswith("wrong")


def test_tuples_are_counted_as_in_the_list(client):
    made = problem.build(9, client, seed=4)
    src, dst, _ = plan("rmat", 2**9, m=16 * 2**9, seed=4).edges(0, 16 * 2**9)
    assert int(made.tuples.sum()) == len(src) == 16 * 2**9
    roots = sources.choose(made.able, 6, 101)
    assert len(set(roots)) == 6
    assert made.able[roots].all()
    found = search.search(made, roots, client)
    for root, edges in zip(found.roots, found.edges, strict=True):
        level = dgsuite.run("bfs", made.graph, client=client, root=root).level.values
        assert ((level[src] >= 0) == (level[dst] >= 0)).all()
        assert edges == np.count_nonzero(level[src] >= 0)


def test_harmonic_mean_and_its_error():
    mean, error = report.harmonic([1.0, 2.0, 4.0])
    assert mean == pytest.approx(3 / (1 + 0.5 + 0.25))
    inverse = np.array([1, 0.5, 0.25])
    assert error == pytest.approx(inverse.std(ddof=1) * mean**2 / np.sqrt(2))
    assert report.harmonic([3.0]) == (3.0, 0.0)


def test_wrong_trees_stop_it(client, monkeypatch):
    made = problem.build(6, client)
    run_each = dgsuite.run_each

    def spoilt(*arguments, **options):
        found = run_each(*arguments, **options)
        found[-1]["level"] = found[-1].level + (found[-1].level > 0)
        return found

    monkeypatch.setattr(dgsuite, "run_each", spoilt)
    roots = sources.choose(made.able, 2, 101)
    with pytest.raises(dgsuite.RunError, match=f"the tree from root {roots[1]} is wrong"):
        search.search(made, roots, client)


def test_searches_follow_one_another_while_their_trees_are_small(client, monkeypatch):
    """Each root is searched once, peers take their turns between, and large trees come alone."""
    made = problem.build(6, client)
    roots = sources.choose(made.able, 5, 101)
    run_each, turns = dgsuite.run_each, []

    def watched(kernel, graph, each, **options):
        turns.append([own["root"] for own in each])
        return run_each(kernel, graph, each, **options)

    def searched(roots, **how):
        turns.clear()
        found = search.search(made, roots, client, **how)
        assert found.roots == roots
        return found, turns

    monkeypatch.setattr(dgsuite, "run_each", watched)
    assert searched(roots)[1] == [roots[:1], roots]
    monkeypatch.setattr(search, "TURN", 2)
    found, (peer, first, *later) = searched(roots, peers={"peer": turns.append})
    assert (first, peer) == (roots[:1], roots[0])
    assert later == [roots[:2], *roots[:2], roots[2:4], *roots[2:4], roots[4:], *roots[4:]]
    assert len(found.peers["peer"]) == len(found.checks) == 5
    monkeypatch.setattr(running, "HELD", 8 * made.graph.n)
    assert searched(roots[:2])[1] == [roots[:1], roots[:1], roots[1:2]]


def test_the_directions_agree_and_are_noted(client):
    graph = genval.graph("rmat", 2**13, clusters=3, client=client)
    how = {"client": client, "root": 1}
    ways = ("top-down", "optimising")
    down, both = (dgsuite.run("bfs", graph, direction=way, **how) for way in ways)
    np.testing.assert_array_equal(down.parent, both.parent)
    np.testing.assert_array_equal(down.level, both.level)
    np.testing.assert_array_equal(down.messages, both.messages)
    assert int(down.bottom_up.sum()) == 0
    assert int(both.bottom_up.sum()) > 0
    assert int(both.examined.sum()) < int(down.examined.sum())
