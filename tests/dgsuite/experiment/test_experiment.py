"""The command line, as a user meets it: processes, files, exit codes."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import xarray as xr

import dgsuite
from dgsuite import InputError, experiment, genval
from dgsuite.core.results import provenance
from dgsuite.kernels import MIS
from dgsuite.partition.client import installed
from dgsuite.studies.experiment import clusters, session, shipped, sweep
from dgsuite.studies.experiment.load import load
from dgsuite.studies.experiment.sweep import MAX_NODES
from dgsuite.studies.report import sweeps
from tests.support.clusters import has_worked, heed_signals
from tests.support.mains import graph500
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.processes import begun, python

SMALL = """
[experiment]
name = "small"

[cluster]
workers = 2

[[run]]
kernel = "lcr"
style = ["serial", "clocked"]
n = 64
graph.imsuite = "{data}/ring_n{{n}}_s101.txt"
params.faithful = true

[[run]]
kernel = "mis"
style = "clocked"
n = [30, 50]
graph.generate = "er"
""".format(data=ROOT / "configs" / "data")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


QUICK = """
[experiment]
plot = false
warmup = 0
[[run]]
style = "serial"
"""


@pytest.fixture
def written(tmp_path):
    """Writes an experiment of one serial run, which begins with these lines; where it is, and its result."""

    def write(lines, head=QUICK):
        (tmp_path / "e.toml").write_text(head + lines)
        return str(tmp_path / "e.toml"), "--output", str(tmp_path / "o.nc"), "-q"

    return write


def test_a_sweep_from_file_to_picture(small, here, tmp_path):
    out = tmp_path / "out.nc"
    first = python("-m", "dgsuite.experiment", small, "--output", out, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == f"{out}\n"
    for word in ("lcr", "8255", "serial", "clocked", "yes"):
        assert word in first.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with xr.open_dataset(out) as ds:
        assert ds.kernel.values.tolist() == ["lcr", "lcr", "mis", "mis"]
        assert ds.n.values.tolist() == [64, 64, 30, 50]
        assert int(ds.messages[1].sum()) == 4096
        assert ds.n_rounds.values[:2].tolist() == [64, 64]
        assert (ds.messages[2, int(ds.n_rounds[2]) :] == -1).all()
        assert ds.leader.dtype.kind == "i"
        assert (ds.leader[0] == 64).all()
        for variable in ds.data_vars.values():
            assert {"long_name", "units"} <= set(variable.attrs)
    points = sorted((tmp_path / "out.points").iterdir())
    times = [p.stat().st_mtime_ns for p in points]
    assert len(points) == 4
    for more, there in (([], 4), (["--set", "run.1.n=[30,50,70]"], 5)):
        plain = ["--output", out, "--set", "experiment.plot=false"]
        assert here(experiment.main, small, *plain, *more).returncode == 0
        assert [p.stat().st_mtime_ns for p in points] == times
        assert len(list((tmp_path / "out.points").iterdir())) == there


def test_one_point_is_a_plain_dataset(small, here, tmp_path):
    only = ["--set", 'run=[{kernel="mis", style="serial", n=40, graph={generate="er"}}]']
    done = here(experiment.main, small, *only, "--output", "one.nc")
    assert done.returncode == 0, done.stderr
    with xr.open_dataset(tmp_path / "one.nc") as ds:
        assert set(ds.sizes) == {"round", "cluster", "node", "model"}
        assert ds.in_mis.dtype == bool
        assert ds.attrs["kernel"] == "mis"
        assert ds.attrs["valid"] == 1
        assert np.isfinite(ds.compute_seconds).all()


def test_dry_run_sees_whether_kernels_take_their_graphs(small, here, tmp_path):
    """Those of files, too; not large ones, which would have to be made. It runs nothing."""
    lines = "".join(f"{u} {(u + 2) % 9}\n" for u in range(9))
    (tmp_path / "ring.txt").write_text(lines)  # of nodes that are no neighbours
    for graph, n in (('generate="er"', 20), ('edge_list="ring.txt"', 9)):
        run = f'run=[{{kernel=["mis", "lcr"], style="serial", n={n}, graph={{{graph}}}}}]'
        done = here(experiment.main, small, "--dry-run", "--set", run)
        assert (done.returncode, "2 runs" in done.stdout) == (2, True)
        assert f"error: lcr serial n={n}" in done.stderr
        assert ": kernel 'lcr': node 0 is not on a ring" in done.stderr
    run = f'run=[{{kernel="lcr", style="serial", n={MAX_NODES + 1}, graph={{generate="er"}}}}]'
    assert here(experiment.main, small, "--dry-run", "--set", run).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ring.txt", "small.toml"]


NOWHERE = "--scheduler tcp://127.0.0.1:9 --set"


WRONG_COMMANDS = [
    ("none.toml", "none.toml: cannot be read"),
    ("bad.toml", "bad.toml: not TOML"),
    ("malformed.toml", "line 2: adjacency row 0 must have 3 digits, found 2"),
    ("--set run.1.clusters=-4", "run.1.clusters = -4"),
    ("--set run.1.params.rng=1", "run.1.params: kernel 'mis': rng must be"),
    ("--set run.0.graph.imsuite=nowhere.txt", "there is no file"),
    ("--set run.9.kernel=mis", "there is no 'run.9.kernel' to set"),
    ("--set nonsense", "must be key.subkey=value"),
    ("--set run.1.graph.generate={n.x}", "only {n}, {kind} and {kernel}"),
    ("--output .", "is a folder"),
    ("--output out.png", "out.png: the name must end in .nc"),
    ("--output /proc/out.nc", "the folder /proc "),
    ("--scheduler tcp://127.0.0.1:9", "no scheduler answers at tcp://"),
    (f"{NOWHERE} cluster.workers=[1,2]", "cluster at an address has the workers it has"),
    (f"{NOWHERE} experiment.fresh=true", "cluster at an address has no worker processes"),
    (f"{NOWHERE} cluster=3", "--scheduler: there is no 'cluster.scheduler' to set"),
    ("--set cluster.protocol=pigeon", "unknown protocol 'pigeon'"),
    ("--set cluster.memory_limit=lots", "memory_limit 'lots': must be such"),
    ("--full", "has no table [full]"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_COMMANDS)
def test_what_is_wrong_is_said_once(small, here, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setattr(clusters, "CONNECT", 1)  # nobody is there, however long it waits
    (tmp_path / "bad.toml").write_text("[[run")
    (tmp_path / "in.txt").write_text("3\n01\n")
    run = '[[run]]\nkernel = "mis"\nstyle = "serial"\ngraph.imsuite = "in.txt"\n'
    (tmp_path / "malformed.toml").write_text(run)
    before = [path for path in tmp_path.rglob("*") if path.is_file()]
    words = arguments.split()
    done = here(experiment.main, *["small.toml"] * words[0].startswith("-"), *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == before


def test_debug_shows_the_traceback(here):
    plain, debug = (here(experiment.main, "none.toml", *more) for more in ([], ["--debug"]))
    assert plain.returncode == debug.returncode == 2
    assert len(plain.stderr.splitlines()) == 1
    assert "Traceback" in debug.stderr


WRONG = """
[experiment]
nam = "x"
[cluster]
workers = 0
[[run]]
kernel = ["mis", "lrc"]
style = "parallel"
"""


def test_all_errors_of_a_file_at_once(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG)
    with pytest.raises(InputError) as caught:
        load(str(path), [])
    said = (
        "3: experiment.nam: unknown key; did you mean 'name'?",
        "5: cluster.workers = 0: must be",
        "7: run.0.kernel.1 = 'lrc': unknown; did you mean 'lcr'?",
        "8: run.0.style = 'parallel': ",
    )
    for line, key in zip(str(caught.value).splitlines(), said, strict=True):
        assert line.startswith(f"{path}, line {key}")


WELL_FORMED = """\
[[run]]
kernel = "bfs"
n = [
  10,
  20,
]
graph.generate = "grid"
[[run]]
kernel = "mis"
n = 10
params.rgn = 3
network = {los = 0.1}
[run.graph]
generate = "gird"
[cluster]
scheduler = "tcp://127.0.0.1:9"
workers = [1, 2]
"""


def test_errors_of_what_is_well_formed_name_lines_too(tmp_path):
    """Of the second of two runs, in tables, inline and dotted; and of no line that says something else."""
    path = tmp_path / "wrong.toml"
    path.write_text(WELL_FORMED)
    with pytest.raises(InputError) as caught:
        load(str(path), ["run.0.params.rot=1", "run.0.graph.generate=gird"])
    found = [line.removeprefix(str(path))[:24] for line in str(caught.value).splitlines()]
    assert found == [
        *(", line 17: cluster.worke", ": run.0.params.rot: kern", ": run.0.graph.generate ="),
        *(", line 11: run.1.params.", ", line 12: run.1.network", ", line 14: run.1.graph.g"),
    ]


def test_an_invalid_result_is_status_1(here, tmp_path, monkeypatch, written):
    """A kernel that goes wrong is found out, and its result is not kept."""

    def settle(self, c, s, inbox):
        s.in_mis.fill(True)

    monkeypatch.setattr(MIS, "settle", settle)
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    done = here(experiment.main, *written('kernel = "mis"\ngraph.edge_list = "edges.txt"\n'))
    assert done.returncode == 1
    assert "invalid result of mis serial" in done.stderr
    assert "independence" in done.stderr
    assert not list(tmp_path.rglob("*.nc"))


NO_GRAPHS = [
    ("options.seed=1", ".options.seed: is no option of the generator; set experiment.seed"),
    ("options.edges=1", ".options.edges: is no option of the generator; set graph.edges"),
    ("options.columns=1", ": option 'columns' has no meaning for er; there are edges"),
    ("edges=9999", ": edges must be at most 435, got 9999"),
    ("generate=ring", ": option 'edges' has no meaning for ring"),
    ("generate=rmat", ": n must be a power of two for rmat, got 30"),
    ("family=imsuite", ".edges: has no meaning in family 'imsuite'"),
]


@pytest.mark.parametrize(("change", "message"), NO_GRAPHS)
def test_a_graph_that_cannot_be_made_is_found_before_anything_runs(small, change, message):
    given = ["run.1.graph.edges=50", f"run.1.graph.{change}"]
    given += ["run.1.graph.generate=spmax"] * change.startswith("family")
    with pytest.raises(InputError, match=re.escape(f"run.1.graph{message}")):
        load(str(small), given)


@pytest.fixture
def ran(monkeypatch):
    """Kernels and forms that sweeps of this process have run."""
    found, real = [], sweep.run

    def counted(kernel, graph, **options):
        found.append((kernel, options["form"]))
        return real(kernel, graph, **options)

    monkeypatch.setattr(sweep, "run", counted)
    return found


@pytest.mark.long
def test_a_point_is_kept_while_its_input_is_the_same_and_it_was_validated(tmp_path, ran, written):
    (tmp_path / "edges").mkdir()
    ends = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    ends.to_parquet(tmp_path / "edges/0.parquet")
    command = written('kernel = "mis"\ngraph.edge_list = "edges"\n')
    for validate, times in (("false", 1), ("false", 1), ("true", 2), ("true", 2), ("false", 2)):
        assert experiment.main([*command, "--set", f"experiment.validate={validate}"]) == 0
        assert len(ran) == times
    (ends + 2).to_parquet(tmp_path / "edges/1.parquet")
    assert experiment.main([*command]) == 0
    assert len(ran) == 3


def test_a_run_of_a_file_is_traced(tmp_path, written):
    run = 'style = "serial"\nn = 12\nclusters = 3\ngraph.generate = "ring"\n'
    both = f'[[run]]\nkernel = "mis"\ntrace = true\n{run}[[run]]\nkernel = "bf"\n{run}'
    assert experiment.main([*written(both, head="")]) == 0
    traced, plain = (dgsuite.open(tmp_path / "o.nc").isel(run=k) for k in (0, 1))
    rounds = int(traced.n_rounds)
    sums = traced.traffic.sum(("cluster", "cluster_to"))
    np.testing.assert_array_equal(sums[:rounds], traced.messages[:rounds])
    assert (plain.traffic == -1).all()


def test_networks_are_swept_over(tmp_path, ran, written):
    """A result that faults have made wrong is one, and is kept."""
    command = written(
        'kernel = "mis"\nn = 60\ngraph.generate = "er"\ncongest = 99\n'
        "network = [{loss = 0.0}, {loss = 0.5, crashes = 0.01}]\n"
    )
    for _ in range(2):
        assert experiment.main([*command, "--set", "experiment.seed=[1, 2]"]) == 0
        ds = xr.load_dataset(tmp_path / "o.nc")
        assert ds.valid.values.tolist() == [1, 0, 1, 0]
        assert ds.terminated.values.tolist() == [1] * 4
        assert len(set(ds.network.values)) == 2
        assert ds.lost.sum("round")[1] != ds.lost.sum("round")[3]  # the seed is that of the run
        assert ds.edge_bits.max() == 53
        assert len(ran) == 4


def test_trials_are_runs_with_what_came_of_each(tmp_path, capsys, written):
    """Together in a point; the report has the share of right results against the swept fault rate."""
    command = written(
        '[[run]]\nkernel = "mis"\nn = [10, 20]\ntrials = 30\ngraph.generate = "er"\n'
        "network = [{loss = 0.0}, {loss = 0.1}, {loss = 0.2}]\n",
        head="",
    )
    assert experiment.main([*command[:-1]]) == 0
    assert "30 of 30" in capsys.readouterr().err
    assert (tmp_path / "o.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "o.points").iterdir())) == 6
    ds = xr.load_dataset(tmp_path / "o.nc")
    assert ds.repeat.values.tolist() == 6 * [*range(30)]
    one = dgsuite.lab.repeat("mis", genval.graph("er", 20, seed=101), 30, network={"loss": 0.1})
    mine = ds.isel(run=(ds.n == 20) & (ds.network == '{"loss": 0.1}'))
    for name in ("in_mis", "rounds", "valid"):
        assert np.array_equal(mine[name], one[name])
    found = sweeps.sweep("o.nc", ds)
    assert found.table.heads == ["kernel", "n", "style", "right", "rounds", "network", "runs"]
    share, low, high = dgsuite.lab.wilson(int(one.valid.sum()), 30)
    assert found.table.rows[4][3] == f"{share:.4g} ({low:.4g} to {high:.4g})"
    assert found.picture.count("n = 20") == 1
    with pytest.raises(InputError, match=r"run.0.workers: has no meaning with trials"):
        load(command[0], ["run.0.workers=2"])


RINGS = 'kernel = "mis"\nn = [8, 9]\ngraph.generate = "ring"\n'


def test_kept_points_are_named_and_damaged_ones_run_anew(tmp_path, ran, capsys, caplog, written):
    command = written(RINGS)
    assert experiment.main([*command]) == 0
    assert "points kept" not in capsys.readouterr().err
    first, _ = sorted((tmp_path / "o.points").iterdir())
    first.write_bytes(first.read_bytes()[:2000])
    assert experiment.main([*command]) == 0
    assert "1 of 2 points kept from an earlier run; --force" in capsys.readouterr().err
    (line,) = caplog.messages
    assert f"a finished point is run anew: {first}: has no checksum, or is damaged" in line
    assert len(ran) == 3
    assert experiment.main([*command, "--force"]) == 0
    assert "points kept" not in capsys.readouterr().err
    assert len(ran) == 5


OTHERWISE = [
    ("fingerprint", lambda: "other", "the code of dgsuite has changed"),
    ("versions", lambda: '{"numpy": "99", "python": "98"}', "numpy was {} and is 99"),
    ("machine_of", lambda client: {"machine": "an abacus", "processors": 9}, ", {} processors"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("target", "other", "why"), OTHERWISE)
def test_points_made_otherwise_are_run_anew(ran, capsys, monkeypatch, target, other, why, written):
    """Code, versions and machine: each has its own points, and what has changed is reported."""
    command = written(RINGS)
    assert experiment.main([*command]) == 0
    assert "anew" not in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(sweep if hasattr(sweep, target) else provenance, target, other)
        assert experiment.main([*command]) == 0
    told = capsys.readouterr().err
    assert "2 of 2 points run anew: " in told
    assert why.format(np.__version__ if target == "versions" else os.cpu_count()) in told
    assert experiment.main([*command]) == 0
    assert "2 of 2 points kept from an earlier run" in capsys.readouterr().err
    assert len(ran) == 4


def test_a_result_says_what_made_it(client):
    graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    for style in ("serial", "clocked"):
        ds = dgsuite.run("mis", graph, style=style, client=client)
        assert ds.attrs["processors"] == os.cpu_count()
        assert (ds.attrs["machine"], ds.attrs["code"]) != ("", "")
        assert ds.attrs["code"] == installed.fingerprint()


def test_several_hosts_measure_together():
    one, two = {"machine": "A", "processors": 2}, {"machine": "B", "processors": 4}
    assert provenance._together([one, two, one]) == {"machine": "2 x A; B", "processors": 8}


def test_the_command_again_can_be_pasted():
    """Quoted for a shell, and with the scheduler; a file that ships is named."""
    given = ["my file.toml", "--full", "--set", 'run.0.kind=["mn", "mx"]', "--set", "graph.n=$HOME"]
    given += ["--scheduler", "tcp://h:1"]
    pasted = session.again(given[0], [given[3], given[5]], {"scheduler": given[7]}, full=True)
    assert pasted.startswith("dgsuite run 'my file.toml' --full")
    seen = subprocess.check_output(["sh", "-c", f"printf '%s\\n' {pasted}"], text=True)
    assert seen.splitlines()[2:] == given
    assert session.again(str(shipped.find("figure9")), [], {}) == "dgsuite run figure09"
    assert session.again("elsewhere/figure09.toml", [], {}).endswith("run elsewhere/figure09.toml")


def test_outputs_are_checked_and_can_be_left_out(tmp_path, ran, written):
    """A point without outputs is run anew where they are wanted; each form is warmed up, once by default."""
    command = written(
        'kernel = "bf"\nn = 8\nform = ["iterative", "recursive"]\n'
        'graph = { generate = "spmax", family = "imsuite" }\n'
    )
    both = [("bf", "iterative"), ("bf", "recursive")]
    for outputs, runs in (("false", both), ("false", both), ("true", both * 2)):
        assert experiment.main([*command, "--set", f"experiment.outputs={outputs}"]) == 0
        ds = xr.load_dataset(tmp_path / "o.nc")
        assert ("distance" in ds, "node" in ds.dims) == 2 * (outputs == "true",)
        assert ran == runs
        assert all(run["valid"] for run in json.loads(ds.attrs["run_attributes"]))
    assert experiment.main([*command, "--force", "--set", "experiment.warmup=1"]) == 0
    assert ran[4:] == 2 * both[:1] + 2 * both[1:]


def heeds_interrupts(pid):
    """Whether a process does anything about SIGINT; false once it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        mask = int(re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)[1], 16)
        return bool(mask >> (signal.SIGINT - 1) & 1)
    return False


def test_interrupted(tmp_path):
    """Ctrl-C in the middle of a sweep, twice: workers gone, finished points kept, status 130."""
    run = 'kernel = "lcr"\nstyle = "clocked"\nn = [10, 60000]\ngraph.generate = "ring"\n'
    (tmp_path / "long.toml").write_text(f"[[run]]\n{run}")
    command = ["-m", "dgsuite.experiment", "long.toml", "--output", "o.nc"]
    how = {"cwd": tmp_path, "preexec_fn": heed_signals, "start_new_session": True}
    process = begun(*command, stdout=subprocess.PIPE, **how)
    deadline = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("o.points/*.nc")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    has_worked(children, 0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers get it, too
    while heeds_interrupts(process.pid):
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert errors.splitlines() == ["interrupted; finished points are kept"]
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert not alive
    assert len(list(tmp_path.glob("o.points/*.nc"))) == 1
    assert not (tmp_path / "o.nc").exists()


def test_against_a_scheduler_that_is_there(small, here, tmp_path, capsys, threaded):
    """Results say so, whatever the file does."""
    small.write_text(SMALL.replace("workers = 2", "workers = 3"))
    there = ("--scheduler", threaded.scheduler.address)
    done = here(experiment.main, small, *there, "--output", "hand.nc")
    assert done.returncode == 0, done.stderr
    with xr.open_dataset(tmp_path / "hand.nc") as ds:
        assert int(ds.messages[1].sum()) == 4096
        assert ds.workers.values[1:].tolist() == [2, 2, 2]
        assert ds.threads.values[1:].tolist() == [3, 3, 3]
    searches = ["--scale", "6", "--roots", "2", "--partition", "2d", "--json"]
    assert graph500([*searches, *there]) == 0
    assert json.loads(capsys.readouterr().out)["workers"] == 2
