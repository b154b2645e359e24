"""The command `dgsuite`: its help, its ways to end, and the sub-commands that have no test file."""

import json
import os
import subprocess
import tomllib
from functools import wraps
from pathlib import Path

import click
import dask
import numpy as np
import pandas as pd
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.__main__ import main
from dgsuite.core.running.runner import OPTIONS
from dgsuite.faces.cli import app, options
from dgsuite.faces.cli.kernel import ELSEWHERE, kernel
from dgsuite.genval import families, imsuite
from dgsuite.kernels import KERNELS, MIS
from dgsuite.studies.experiment import shipped, toml
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.processes import begun, python


@pytest.fixture
def told(here):
    """Runs the command with the words of a text."""
    return lambda text: here(main, *text.split())


DGSUITE = ("-m", "dgsuite")

HELPS = """
import sys
import tomllib
import click
from dgsuite.__main__ import main

def walk(path, command):
    assert main([*path, "--help"]) == 0
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            walk([*path, name], command.get_command(context, name))

from dgsuite.faces.cli.app import app
walk([], app)
heavy = ("dask", "distributed", "numba", "numpy", "scipy", "xarray", "matplotlib", "networkx")
print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def test_help_imports_nothing_heavy():
    done = python("-c", HELPS)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert done.stdout.count("Usage: ") > 20


def commands(group=app.app, path=()):
    """All commands, with their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_every_command_has_the_general_options_and_every_option_a_help():
    wanted = {parameter.name for parameter in options.general(click.Command("any")).params}
    for path, command in commands():
        names = {parameter.name for parameter in command.params}
        assert isinstance(command, click.Group) or wanted <= names, path
        assert command.help or command.get_short_help_str(), path
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name != "seed":
                assert parameter.help, (path, parameter.name)


FEW = "--set cluster.workers=[1,2] --set throttle.percent=[100]"


WRONG = [
    ("grahp500", "unknown command 'grahp500'; did you mean 'graph500'?"),
    ("gap --krno 4", "No such option"),
    ("kernel bfs grid --protocl tcp", "--protocol"),
    ("gap --kron four", "'four' is not a valid integer; dgsuite gap --help says more"),
    ("gap --file in.txt", "these are for `dgsuite kernel` with one of bf, by, dp"),
    ("run", "Missing argument 'FILE'"),
    ("run quikstart", "did you mean 'quickstart'?"),
    ("kernel bsf grid --n 9", "unknown kernel 'bsf'; did you mean"),
    ("kernel bfs grid", "needs either --n or --scale"),
    ("kernel bfs grid --n 9 --duplicates sum", "are for files"),
    ("kernel bfs none.txt", "none.txt"),
    ("kernel bfs mis.nc", "mis.nc: is a result, not a graph"),
    ("kernel bfs none.txt --n 4", "--n is for generated graphs"),
    ("kernel bfs grid --n 9 --set rot=1", "did you mean 'root'?"),
    ("kernel mis grid --n 9 --network loss=2", "loss must be a probability"),
    ("kernel mis grid --n 9 --network los=0.1", "did you mean 'loss'?"),
    ("kernel bfs grid --n 9 -o no/a.nc", "the folder no does not exist"),
    ("kernel bfs grid --n 9 --workers 0", "must be at least 1"),
    ("kernel lcr rmat --n 16 --dry-run", "node 0 is not on a ring"),
    ("kernel sssp twice.txt --duplicates error", "edge (0, 1) is there more than once"),
    ("kernel pagerank in.txt", "is an input of IMSuite's, since its first line is one number"),
    ("kernel mst in.txt --relabel", "takes none of --directed, --relabel, --duplicates and"),
    ("kernel mis in.txt", "is it an input of another kernel than mis?"),
    ("kernel wcc edges.txt --nodes none.csv:id", "none.csv: no such file"),
    ("kernel wcc grid --n 4 --nodes 4", "--nodes are for files, and grid is generated"),
    ("kernel wcc m.mtx --nodes 4", "--nodes is for edge lists"),
    ("kernel wcc pairs.csv --relabel", "choose two: Graph.from_csv, or --columns"),
    ("kernel wcc pairs.csv --columns left,rihgt", "no column 'rihgt'; there are: left"),
    ("kernel wcc edges.txt --columns left,right", "--columns is for Parquet and CSV, and"),
    ("inputs generate vc --n 8 --kind star --max 3", "for a star; it is for the kind rn"),
    ("inputs edges all --n 3", f"{', '.join(families.FAMILIES)}"),
    ("graphalytics edges.txt --graph g", "Directory 'edges.txt' is a file"),
    ("report claims edges.txt", "Directory 'edges.txt' is a file"),
    ("scaling nowhere.nc", "no such file"),
    ("scaling quickstart", "no workers to count; run it in style 'clocked' or 'finish_async'"),
    ("scaling clusters", "differ in clusters: clusters is 2 in one and 4 in another"),
    (f"scaling scalability-bfs {FEW}", "on 1, 2 workers; give more numbers of workers"),
    ("scaling one.nc", "in style 'serial' has no workers to count"),
    ("statics --csv no/t.csv", "the folder no does not exist"),
    ("transports bench --processes 1", "--processes 1: must be at least 2"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_is_wrong_is_one_line_and_status_2(told, tmp_path, arguments, message):
    (tmp_path / "edges.txt").write_text("0 1\n")
    (tmp_path / "twice.txt").write_text("0 1 2\n1 0 3\n")
    (tmp_path / "pairs.csv").write_text("left,right,score\na,b,0.5\n")
    matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"
    (tmp_path / "m.mtx").write_text(matrix)
    (tmp_path / "in.txt").write_bytes(imsuite.generate("mst", 8, imsuite.kinds("mst")[0]))
    dgsuite.save(dgsuite.run("mis", genval.graph("ring", 16), style="serial"), tmp_path / "one.nc")
    before = [path for path in tmp_path.rglob("*") if path.is_file()]
    done = told(arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == before


def test_a_warning_is_one_line(tmp_path):
    """Without the line of click's code that called ours."""
    (tmp_path / "edges.txt").write_text("0 1\n1 0\n")
    process = begun(*DGSUITE, "kernel", "wcc", "edges.txt", cwd=tmp_path, stdout=subprocess.DEVNULL)
    (line,) = process.communicate()[1].splitlines()
    assert line.startswith("warning: 1 of 2 rows repeat an edge")


def test_a_reader_that_leaves_ends_a_command_quietly():
    process = begun(*DGSUITE, "inputs", "edges", "ring", "--n", "1000000", stdout=subprocess.PIPE)
    assert process.stdout.readline() == "# ring, 1000000 nodes, seed 101\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 128 + 13


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_output_that_cannot_be_written_is_status_2():
    with open("/dev/full", "wb") as full:
        process = begun(*DGSUITE, "kernels", stdout=full)
        assert process.stderr.read() == "error: No space left on device\n"
        assert process.wait(PATIENCE) == 2


def test_a_command_whose_output_is_closed_ends_well():
    process = begun(*DGSUITE, "kernels", stdout=None, preexec_fn=lambda: os.close(1))
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 0


COMPLETIONS = [
    ("dgsuite ker", {"kernel", "kernels"}),
    ("dgsuite transports ", {"bench", "mpi-worker"}),
    ("dgsuite kernel bfs_", {"bfs_many"}),
    ("dgsuite gap --ur", {"--urand"}),
]


@pytest.mark.parametrize(("words", "found"), COMPLETIONS)
def test_a_shell_completes(words, found, capfd, monkeypatch):
    monkeypatch.setenv("_DGSUITE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    main([])
    offered = {line.partition(",")[2] for line in capfd.readouterr().out.splitlines()}
    assert offered == found


INPUTS = [
    pytest.param(name, kind, marks=[] if k == i % len(imsuite.kinds(name)) else pytest.mark.long)
    for i, name in enumerate(imsuite.KERNELS)
    for k, kind in enumerate(imsuite.kinds(name))
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("kernel", "kind"), INPUTS)
def test_a_kernel_runs_on_its_generated_input(told, tmp_path, kernel, kind):
    """With the root, identifiers, weights and other inputs of the file."""
    assert told(f"inputs generate {kernel} --n 16 --kind {kind} -o in.txt").returncode == 0
    done = told(f"kernel {kernel} in.txt -o out.nc")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "out.nc"
    graph = dgsuite.Graph.read_imsuite(imsuite.generate(kernel, 16, kind), kernel, client=None)
    found, expected = dgsuite.open(tmp_path / "out.nc"), dgsuite.run(kernel, graph, style="serial")
    for name in KERNELS[kernel].outputs:
        np.testing.assert_array_equal(found[name].values, expected[name].values)
    assert told(f"validate {kernel} in.txt out.nc").returncode == 0


@pytest.mark.parametrize("kernel", sorted(KERNELS.keys() - {"bfs2d"}))
def test_the_result_of_every_kernel_is_validated(told, tmp_path, kernel):
    """As it was saved, with its parameters; and not on another graph."""
    needs = KERNELS[kernel].needs
    pairs = "from,to,cost\na,b,1\nb,c,2\nc,d,3\na,d,4\nb,e,5\nd,e,6\ne,f,7\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    kinds = {"complete": "cplt", "ring": "ring", "tree": "tree"}
    graph, more = next((kinds[need] for need in needs if need in kinds), "grid"), "--n 9"
    if "weights" in needs:
        graph, more = "pairs.csv", "--columns from,to,cost"
    if kernel == "topological":
        graph, more = "pairs.csv", "--columns from,to --directed"
    done = told(f"kernel {kernel} {graph} {more} --set seed=7 --no-validate -o o.nc")
    assert done.returncode == 0, done.stderr
    done = told(f"validate {kernel} {graph} o.nc {more}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{kernel}: valid")
    assert told(f"validate {kernel} rmat o.nc --n 8").returncode != 0


def test_a_kernel_prints_what_it_found(told, client):
    done = told("kernel bfs grid --n 16")
    assert done.stdout.splitlines()[-6:-1] == [
        "level: hops from the root, -1 where unreached",
        "    [0 1 2 ... 4 5 6]",
        "    16 of 16 nodes reached",
        "parent: parent in the tree, -1 where unreached",
        "    [ 0  0  1 ...  9 10 11]",
    ]
    assert "    3 of 9 nodes\n" in told("kernel mis grid --n 9").stdout
    with dask.config.set({"dgsuite.gather-limit": 0}):  # outputs stay on the workers
        how = f"--scheduler {client.scheduler.address} --style clocked"
        there = told(f"kernel bfs grid --n 16 {how}")
    assert there.stdout.splitlines()[-6:] == done.stdout.splitlines()[-6:]


def test_a_kernel_on_a_generated_graph(told, tmp_path):
    """The graph's seed and the kernel's are two."""
    done = told("kernel bfs grid --n 25 --set root=7 --json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["n"], figures["m"], figures["style"]) == (25, 40, "serial")
    assert (figures["validated"], figures["level"]) == (True, "complete")
    assert figures["output"] == "results/bfs-grid-n=25-seed=101-root=7.nc"
    assert int(dgsuite.open(tmp_path / figures["output"]).level[7]) == 0
    done = told("kernel mis grid --n 16 --set seed=3 -q")
    assert (done.stdout, done.stderr) == ("results/mis-grid-n=16-seed=3.nc\n", "")
    found = dgsuite.open(tmp_path / done.stdout.strip())
    assert found.attrs["seed"] == 3
    assert found.in_mis.equals(dgsuite.run("mis", genval.graph("grid", 16), seed=3).in_mis)


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_each_option_of_a_run_is_given_one_way(here, name, dry):
    """By an option of the command, or by --set; a wrong value, or the other way, is one line."""
    done = here(main, "kernel", "mis", "grid", "--n", "16", "--set", f"{name}=wrong", *dry)
    if name == "checkpoint" and not dry:
        assert done.returncode == 0  # the name of a folder
        return
    assert done.returncode == 2
    assert name in done.stderr
    assert len(done.stderr.splitlines()) == 1
    if name in ELSEWHERE:
        options = {option for each in kernel.params for option in each.opts}
        assert {word for word in ELSEWHERE[name].split() if word.startswith("-")} <= options
        assert f"take {ELSEWHERE[name]}" in done.stderr


def test_a_page_is_of_the_run_whose_result_is_saved(told, tmp_path, monkeypatch):
    """The kernel runs once, and finds what it finds without a page."""
    ran, phase = [], MIS.compete

    @wraps(phase)
    def noted(*what, **more):
        ran.append(1)
        return phase(*what, **more)

    monkeypatch.setattr(MIS, "compete", noted)
    how = "kernel mis grid --n 25 --congest 99 --no-validate --clusters 1 --style"
    for more in ("", "--network delay.low=2", "--network loss=0.01"):
        counts, found = [], []
        for name, page in (("plain.nc", ""), ("shown.nc", "--page page.html")):
            ran.clear()
            done = told(f"{how} serial -o {name} {more} {page}")
            assert done.returncode == 0, done.stderr
            counts.append(len(ran))
            ds = dgsuite.open(tmp_path / name)
            timed = {name for name in ds.variables if name.endswith("_seconds")}
            found.append(ds.drop_vars(timed))
            found[-1].attrs = dict.fromkeys({*ds.attrs} - {"style_reason"})
        assert counts[0] == counts[1] > 0
        assert found[0].identical(found[1])
        assert (tmp_path / "page.html").exists()
    done = told(f"{how} clocked --page page.html")
    assert "--page shows a run of --style serial, and not --style clocked" in done.stderr


def test_a_kernel_on_a_network_with_faults(told, tmp_path):
    faults = "--network loss=0.5 --network byzantine.nodes=[3] --congest 99"
    for more, status, valid in (
        (faults, 1, False),  # faults have made it wrong; it is saved
        (f"{faults} --no-validate -o b.nc", 0, False),
        ("--network delay.low=2 -o c.nc", 0, True),
    ):
        done = told(f"kernel mis grid --n 100 --json {more}")
        found = json.loads(done.stdout)
        assert (done.returncode, found["validated"]) == (status, valid)
        if status:
            said = "the result of mis on grid is wrong, as on a network with faults it may be"
            assert said in done.stderr
            ds = dgsuite.open(tmp_path / found["output"])
            assert ds.lost.sum() > 0
            assert ds.edge_bits.max() > 0


def test_a_kernel_on_a_file_and_on_a_cluster(told, tmp_path, client):
    (tmp_path / "edges.txt").write_text("a b\nb c\nc d\n")
    there = f"--style clocked --scheduler {client.scheduler.address}"
    done = told(f"kernel pagerank edges.txt --relabel --directed {there} -o ranks.nc")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ranks.nc"
    assert "    [0.1162 0.2149 0.2988 0.3701]" in done.stdout
    ds = dgsuite.open(tmp_path / "ranks.nc")
    assert ds.node.values.tolist() == ["a", "b", "c", "d"]
    assert int(ds.attrs["workers"]) == 2


def test_a_kernel_on_a_file_and_nodes_that_it_does_not_name(told, tmp_path):
    (tmp_path / "pairs.txt").write_text("bob dan 0.9\ndan eve 0.7\ndan bob 0.1\n")
    (tmp_path / "records.csv").write_text("id,age\nann,3\nbob,4\ncid,5\ndan,6\neve,7\n")
    how = "--relabel --nodes records.csv:id --duplicates max --set thresholds=[0.9,0.7] -o o.nc"
    done = told(f"kernel wcc pairs.txt {how}")
    assert done.returncode == 0, done.stderr
    found = dgsuite.open(tmp_path / "o.nc")
    assert found.node.values.tolist() == ["ann", "bob", "cid", "dan", "eve"]
    for threshold, last in ((0.9, "eve"), (0.7, "bob")):
        parts = found.component.sel(threshold=threshold).values.tolist()
        assert parts == ["ann", "bob", "cid", "bob", last]
    (tmp_path / "edges.txt").write_text("0 1\n")
    assert told("kernel wcc edges.txt --nodes 4 -o o.nc").returncode == 0
    assert dgsuite.open(tmp_path / "o.nc").sizes["node"] == 4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_kernel_on_columns_of_a_table(told, tmp_path, form):
    pairs = pd.DataFrame({"left": ["a"], "right": ["b"], "score": [0.5]})
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    pairs.to_parquet(tmp_path / "pairs.parquet")
    how = f"kernel wcc pairs.{form} --relabel --set thresholds=[0.4,0.6] -o o.nc"
    done = told(f"{how} --columns left,right,score")
    assert done.returncode == 0, done.stderr
    found = dgsuite.open(tmp_path / "o.nc")
    assert found.node.values.tolist() == ["a", "b"]
    assert found.component.values.tolist() == [["a", "a"], ["a", "b"]]
    done = told(how)
    assert (done.returncode, "--columns" in done.stderr) == (2, True)


def test_a_dry_run_of_a_kernel_that_takes_the_graph(told):
    """One that is too large to be made is not looked at."""
    for graph in ("ring --n 16", "rmat --scale 30"):
        assert told(f"kernel lcr {graph} --dry-run").returncode == 0


def test_no_file_is_replaced_without_a_word(told, tmp_path):
    """And the name of a result says what was chosen."""
    how = "kernel mis grid --n 16 --json"
    paths = []
    given = ("--set seed=3", "--seed 4", "--network delay.low=2", "--set faithful=true")
    for more in ("", *given, f"--network loss=0.{'0' * 300}"):
        done, again = (told(f"{how} {more}") for _ in range(2))
        assert (done.returncode, done.stderr) == (0, "")
        paths.append(json.loads(done.stdout)["output"])
        assert again.stderr == f"{paths[-1]}: is there, and will be replaced\n"
    assert len({*paths}) == 6
    named = [f"results/mis-grid-n=16-seed={more}.nc" for more in (101, 3, 4, "101-delay.low=2")]
    assert paths[:4] == named
    for written in (
        *(f"report {paths[0]}", "statics --csv t.csv", "inputs edges ring --n 3 -o e.txt"),
        f"{how} --page page.html -o page.nc",
    ):
        assert "will be replaced" not in told(written).stderr
        assert "will be replaced" in told(written).stderr
    assert (tmp_path / paths[0]).with_suffix(".html").exists()


def test_an_experiment_on_pairs_and_all_records(here, tmp_path):
    (tmp_path / "pairs.txt").write_text("bob dan 0.9\ndan eve 0.7\n")
    (tmp_path / "records.txt").write_text("ann\nbob\n")
    (tmp_path / "twice.txt").write_text("0 1 2\n1 0 3\n")
    run = '[[run]]\nkernel = "wcc"\nstyle = "serial"\nparams.thresholds = [0.9, 0.7]\n'
    graph = 'graph = {edge_list = "pairs.txt", relabel = true, nodes = "records.txt"}\n'
    (tmp_path / "e.toml").write_text(run + graph)
    done = here(main, "run", "e.toml", "-o", "o.nc")
    assert done.returncode == 0, done.stderr
    assert dgsuite.open(tmp_path / "o.nc").node.values.tolist() == ["ann", "bob", "dan", "eve"]
    (tmp_path / "records.txt").write_text("ann\nbob\ncid\n")
    assert here(main, "run", "e.toml", "-o", "o.nc").returncode == 0  # not the point that is kept
    assert dgsuite.open(tmp_path / "o.nc").sizes["node"] == 5
    for wrong, message in [
        (graph.replace("records.txt", "none.csv:id"), "there is no file"),
        (graph.replace('"records.txt"', "4"), "relabel = true finds the nodes itself"),
        ('graph = {edge_list = "pairs.txt", nodes = 0}\n', "must be at least 1"),
        ('graph = {generate = "grid", nodes = 4}\nn = 4\n', "nodes: is for an edge_list"),
        ('graph = {edge_list = "twice.txt", duplicates = "error"}\n', "is there more than once"),
    ]:
        (tmp_path / "e.toml").write_text(run + wrong)
        done = here(main, "run", "e.toml")
        assert done.returncode != 0
        assert message in done.stderr


def test_kernels_are_listed(capsys):
    assert main(["kernels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == KERNELS.keys()
    assert found["pagerank"]["parameters"]["damping"] == 0.85
    assert all(one["answers"] for one in found.values())
    assert main(["kernels"]) == 0
    assert capsys.readouterr().out == f"{dgsuite.list_kernels()}\n"


def test_models_of_kernels_are_what_they_declare(capsys):
    assert main(["kernels", "--models"]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()[1:]}
    assert rows.keys() == KERNELS.keys()
    assert rows["hs"] == ["CONGEST", "neighbours", "2", "nothing", "23,", "43"]
    assert rows["triangles"][:4] == ["LOCAL", "neighbours", "any", "nothing"]
    assert rows["dr"][:4] == ["-", "nodes", "any", "nothing"]
    assert rows["bf"][:4] == ["-", "neighbours", "1", "data"]
    assert rows["bc"][:4] == ["-", "clusters", "any", "control"]
    assert main(["kernels", "--models", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["hs"]["bits"] == [23, 43]


def test_configs_that_ship(capsys):
    """The number of a figure needs no zero."""
    assert main(["config", "list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == shipped.names()
    for name, file in (("quickstart", "quickstart"), ("figure9", "figure09")):
        path = ROOT / "configs" / f"{file}.toml"
        assert main(["config", "show", name]) == 0
        assert capsys.readouterr().out == path.read_text()
        assert main(["config", "path", name]) == 0
        assert Path(capsys.readouterr().out.strip()).samefile(path)
        assert shipped.find(name).samefile(path)


@pytest.mark.parametrize("name", shipped.names())
def test_every_config_that_ships_is_one_of_its_command(here, name):
    tables = tomllib.loads((ROOT / "configs" / f"{name}.toml").read_text())
    command = next(command for table, command in toml.COMMANDS.items() if table in tables)
    settings = [[], ["--full"]] if "full" in tables else [[]]
    for setting in settings:
        done = here(main, command, name, "--dry-run", *setting)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


def test_a_config_that_ships_is_run_from_any_folder(told):
    done = told("run quickstart --dry-run --workers 3")
    assert (done.returncode, "workers=3" in done.stdout) == (0, True)
    assert "scale = 5" in told("graph500 graph500 --dry-run --scale 5").stdout.splitlines()
