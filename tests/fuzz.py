"""Damaged and forged input files for every reader: each must be read, or refused by one InputError.

    python -m tests.fuzz --inputs 400 --seed 1 [reader ...]
    python -m tests.fuzz --times 40
    python -m tests.fuzz --bounds --inputs 10000 forged_graph

A forged input has right checksums and wrong content. What is read is used, too: kernels run on a graph, a run
goes on from a checkpoint, a result is shown. With --bounds compiled loops check their indices, so that one
out of range is an error, and not luck; to compile them takes some minutes.

A reader runs in a process of its own with a limit of memory, so that crashes, demands for memory and
endless loops are seen, too. What fails is reported with its number: `data_of` makes it again.
"""

import argparse
import io
import itertools
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask
import fsspec
import numpy as np
import pandas as pd
import xarray as xr

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.base import netcdf, thresholds
from dgsuite.core import traces
from dgsuite.genval.imsuite import generate
from dgsuite.partition.graph.views import both_ways
from dgsuite.studies.chem import molecule
from dgsuite.studies.experiment.load import load
from dgsuite.suites.graphalytics import files as graphalytics_files
from dgsuite.suites.graphalytics import setting
from dgsuite.suites.graphalytics.options import ALGORITHMS, Options
from tests.support import forging
from tests.support.paths import ROOT

MEMORY = 1 << 30
"""Bytes that reading a file of some hundred may take beyond what the process has before."""

BOUNDS = Path(tempfile.gettempdir()) / f"dgsuite-bounds-{os.getuid()}"
"""Where loops that check their indices are kept."""

SECONDS = 60
"""Of processor time for one input."""

PATIENCE = 600
"""Seconds for one input, where other processes take the machine."""

MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n% a path\n5 5 4\n"
MATRIX += b"".join(b"%d %d 1.5\n" % (i + 1, i) for i in range(1, 5))
RING = b"# a ring\n" + b"".join(b"%d %d 2.5\n" % (i, (i + 1) % 30) for i in range(30))
XYZ = b"3\nwater\nO 0.0 0.0 0.1173\nH 0.0 0.7572 -0.4692\nH 0.0 -0.7572 -0.4692\n"
TOML = b"""[experiment]
name = "x"
[[run]]
kernel = ["mis", "bf"]
style = "serial"
n = [8, 16]
graph.generate = "ring"
"""
ROUNDS = 1000
"""After which a run is ended: on an undirected graph with edges at one end alone it may go on for ever."""

KERNELS = ("bfs", "triangles", "wcc", "pagerank", "sssp", "core_number", "mis")
FROM_CHECKPOINTS = ("pagerank", "bfs", "wcc", "mis", "sssp")
NAMES = [f"n{i}" for i in range(30)]
EDGES = [(1, 5), (1, 7), (5, 9), (7, 9)]
NUMBERS = (b"0", b"-1", b"99999999999", b"2147483647", b"1e308", b"nan", b"9" * 5000)


def graphalytics(path):
    """The vertices, or the edges, of a graph of Graphalytics; the other file is whole."""
    for name, text in (("g.v", b"1\n5\n7\n9\n"), ("g.e", b"1 5 0.5\n5 7 1\n")):
        if not (other := Path(path).with_name(name)).exists():
            other.write_bytes(text)
    options = Options(folder=str(Path(path).parent), graph="g", directed=False)
    graphalytics_files.read(setting.read(options), None)


def properties(path):
    options = Options(folder=str(Path(path).parent), graph="g")
    found = setting.read(options)
    for name in ALGORITHMS:
        setting.parameters(name, found, options, 1)


def saved_file(pattern):
    """A file of a saved graph, by a pattern of its name: a reader, and what makes its content."""
    files, folder = fsspec.filesystem("memory"), "memory://fuzzed"

    def read(path):
        (name,) = files.glob(f"{folder}/{pattern}")
        files.pipe(name, Path(path).read_bytes())
        Graph.load(folder, client=None)

    def make():
        ends = [u for u, _ in EDGES], [v for _, v in EDGES]
        Graph.from_edges(*ends, weights=[1, 2, 3, 4], relabel=True, client=None).save(folder)
        return files.cat_file(files.glob(f"{folder}/{pattern}")[0])

    return read, "file", make


def checkpoint_file(pattern):
    """A file of the checkpoints of a run that was broken off: a reader, and what makes its content.

    The run goes on from the checkpoint before, or begins anew, and ends with the same values.
    """
    files, folder = fsspec.filesystem("memory"), "memory://checkpoints"

    def run(**options):
        graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], clusters=2)
        with dask.config.set({"dgsuite.checkpoint.every": 0}):
            return dgsuite.run("pagerank", graph, iterations=5, **options)["rank"].values

    def make():
        logging.disable()  # each damaged file is named in a warning
        with suppress(dgsuite.RunError):
            run(checkpoint=folder, max_rounds=3)
        written.update(files.cat(files.ls(folder, detail=False)))
        (name,) = sorted(files.glob(f"{folder}/{pattern}"))[-1:]
        return written[name]

    def read(path):
        for other, content in written.items():
            files.pipe(other, content)
        (name,) = sorted(files.glob(f"{folder}/{pattern}"))[-1:]
        files.pipe(name, Path(path).read_bytes())
        if not np.array_equal(run(checkpoint=folder), run()):
            raise ValueError("the run ended with other values")

    written: dict[str, bytes] = {}
    return read, "file", make


def forged_graph(**options):
    """Graphs in folders, to be loaded and used: a reader, and what makes the folder."""
    numbers = itertools.count()

    def read(path):
        number = next(numbers)
        for way in (0, 1) if not number else (number % 2,):
            thresholds.compile_from = -1 if way else 1 << 15
            edges = ("memory", "disk")[number // 2 % 2]
            graph = naming(path, partial(Graph.load, path, edges=edges))
            repr(graph)
            some = KERNELS if number < 2 else [KERNELS[number % len(KERNELS)]]
            for kernel in some:
                with suppress(dgsuite.DgsuiteError):
                    dgsuite.run(kernel, graph, style="serial", max_rounds=ROUNDS)

    def make():
        warnings.simplefilter("ignore")
        src, dst = np.random.default_rng(1).integers(0, 30, (2, 90))
        given = dict(options)
        view = given.pop("both_ways", False)
        names = given.pop("names", range(30))
        names = np.array(names)
        with tempfile.TemporaryDirectory() as folder:
            graph = Graph.from_edges(names[src], names[dst], **given)
            if view:
                graph = both_ways(graph)
            graph.save(folder)
            return {found.name: found.read_bytes() for found in Path(folder).iterdir()}

    return read, "folder", make


def forged_checkpoint(kernel):
    """The checkpoints of a run that was broken off, from which it goes on: a reader, and what makes them."""

    def run(folder, **given):
        src = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5, 5]
        dst = [1, 2, 3, 0, 5, 6, 7, 8, 9, 10, 11, 4, 9, 2]
        graph = dgsuite.Graph.from_edges(src, dst, weights=range(1, 15), clusters=2)
        with dask.config.set({"dgsuite.checkpoint.every": 0}):
            dgsuite.run(kernel, graph, checkpoint=str(folder), style="serial", **given)

    def read(path):
        with suppress(dgsuite.RunError):  # of a phase, which was given values that it does not make
            run(path, max_rounds=20)

    def make():
        logging.disable()  # what is left out is named in warnings
        with tempfile.TemporaryDirectory() as folder:
            with suppress(dgsuite.RunError):
                run(folder, max_rounds=1)
            found = {found.name: found.read_bytes() for found in Path(folder).iterdir()}
        newest = max(name[:14] for name in found if name.startswith("phase"))
        return {name: each for name, each in found.items() if name.startswith((newest, "owner"))}

    return read, "folder", make


def forged_result():
    """A result with any content, which is shown: a reader, and what makes it."""

    def read(path):
        ds = naming(path, lambda: dgsuite.open(path))
        repr(ds)
        for use in (ds.dgsuite.summary, ds.dgsuite.to_dataframe, ds.dgsuite.to_networkx):
            with suppress(dgsuite.DgsuiteError):
                use()

    def make():
        graph = dgsuite.Graph.from_edges(*zip(*EDGES, strict=True), relabel=True, client=None)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.nc"
            dgsuite.save(dgsuite.run("bfs", graph, style="serial"), path)
            return path.read_bytes()

    return read, "r.nc", make


def naming(path, function):
    """The result of a function, whose errors name the file."""
    try:
        return function()
    except InputError as error:
        if str(path) not in str(error):
            raise ValueError(f"an error that names no file: {error}") from None
        raise


def trace_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.nc"
        dgsuite.run("mis", Graph.from_edges([0, 1, 2], [1, 2, 3]), clusters=2, trace=path)
        return path.read_bytes()


def result_file(foreign: bool = False) -> bytes:
    """A NetCDF file, with a checksum or as another program writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.nc"
        values = {"in_mis": ("node", np.arange(16) % 2), "name": ("node", list("abcdefghijklmnop"))}
        data = xr.Dataset(values, attrs={"kernel": "mis"})
        if foreign:
            data.to_netcdf(path, engine="h5netcdf")
        else:
            netcdf.write(data, path)
        return path.read_bytes()


def parquet_file() -> bytes:
    out = io.BytesIO()
    ends = {"source": range(50), "target": range(1, 51)}
    pd.DataFrame({**ends, "weight": [0.5] * 50}).to_parquet(out)
    return out.getvalue()


def faulty(path):
    """What a reader can do wrong, by the number of the input; for the tests of this module."""
    number = int(Path(path).with_name("number").read_text())
    if number == 0:
        raise ValueError("wrong")
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 2:
        bytearray(2 * MEMORY)
    if number == 3:
        signal.alarm(1)
        time.sleep(60)
    if number >= 0:
        raise InputError("refused")


FAULTY = {"faulty": (faulty, "f", lambda: b"x" * 50)}

PROPERTIES = b"""# a graph
graph.g.directed = true
graph.g.edge-properties.names = weight
graph.g.bfs.source-vertex = 1
graph.g.pr.damping-factor = 0.85
graph.g.pr.num-iterations = 2
"""

READERS = {
    "vertices": (graphalytics, "g.v", lambda: b"1\n5\n7\n9\n16\n25\n"),
    "edges": (graphalytics, "g.e", lambda: b"".join(b"%d %d 0.25\n" % e for e in EDGES)),
    "properties": (properties, "g.properties", lambda: PROPERTIES),
    "matrix_market": (Graph.read_matrix_market, "g.mtx", lambda: MATRIX),
    "edge_list": (Graph.read_edge_list, "g.txt", lambda: RING),
    "parquet": (Graph.read_edge_list, "g.parquet", parquet_file),
    "imsuite": (partial(Graph.read_imsuite, kernel="mst"), "in.txt", partial(generate, "mst", 8)),
    "netcdf": (netcdf.read, "r.nc", result_file),
    "foreign_netcdf": (netcdf.read, "r.nc", lambda: result_file(foreign=True)),
    "saved_list": saved_file("graph.json"),
    "saved_cluster": saved_file("cluster-0000-*"),
    "checkpoint_list": checkpoint_file("phase-*-site-*"),
    "checkpoint_owner": checkpoint_file("owner.json"),
    "checkpoint_states": checkpoint_file("phase-*-states-*"),
    "checkpoint_log": checkpoint_file("phase-*-log-*"),
    "forged_graph": forged_graph(weights=range(90), clusters=2, relabel=True),
    "forged_hashed": forged_graph(clusters=3, partition="hash", loops="keep"),
    "forged_view": forged_graph(clusters=2, directed=True, weights=[0.5] * 90, both_ways=True),
    **{f"forged_checkpoint_{name}": forged_checkpoint(name) for name in FROM_CHECKPOINTS},
    "forged_result": forged_result(),
    "trace": (traces.read, "trace.nc", trace_file),
    "toml": (lambda path: load(path, []), "e.toml", lambda: TOML),
    "xyz": (molecule.read, "m.xyz", lambda: XYZ),
}
"""Function, name of its file, and what stands in it undamaged."""

MANY = 2_850
"""Damaged inputs that the long tests give a reader: 25,000 in all."""

FEWER = (
    {"netcdf": 25, "foreign_netcdf": 7, "trace": 25}
    | {reader: 63 for reader in READERS if "checkpoint" in reader}
    | dict.fromkeys(("vertices", "edges", "edge_list", "parquet"), 625)
    | {reader: 670 for reader in READERS if reader.startswith("forged")}
    | {reader: 63 for reader in READERS if reader.startswith("forged_checkpoint")}
    | {"forged_result": 200}
)
"""Those of readers that take more than a millisecond for each."""


def damaged(data: bytes, dice: random.Random) -> bytes:
    """The same with a few things changed."""
    found = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(found) + 1)
        size = dice.choice((1, 2, 8, 40))
        match dice.randrange(6):
            case 0 if at < len(found):
                found[at] ^= 1 << dice.randrange(8)
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = found[at : at + size]
            case 3:
                found[at:at] = dice.randbytes(size)
            case 4:
                digits = [i for i, c in enumerate(found) if chr(c).isdigit()]
                if digits:
                    at = dice.choice(digits)
                    found[at : at + 1] = dice.choice(NUMBERS)
            case 5:
                del found[at:]
    return bytes(found)


def data_of(reader: str, seed: int, number: int, whole: Any) -> Any:
    """An input: bytes, or the files of a folder by their names."""
    dice = random.Random(f"{reader} {seed} {number}")
    if not reader.startswith("forged"):
        return damaged(whole, dice)
    return (forging.dataset if isinstance(whole, bytes) else forging.forged)(whole, dice)


def put(path: Path, content: Any) -> None:
    """Write a file, or a folder of files in the place of what was in it."""
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    path.mkdir(exist_ok=True)
    for name in {found.name for found in path.iterdir()} - set(content):
        (path / name).unlink()
    for name, each in content.items():
        (path / name).write_bytes(each)


def child(reader: str, seed: int, first: int, last: int) -> None:
    """Read inputs, and say what came of each."""
    read, name, make = (READERS | FAULTY)[reader]
    whole = make()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        put(path, whole)
        number_file = path.with_name("number")
        number_file.write_text("-1")
        read(path)  # undamaged: also what is imported and compiled
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for number in range(first, last):
            put(path, data_of(reader, seed, number, whole))
            number_file.write_text(str(number))
            print(number, end=" ", flush=True)
            # not caught: they also end compiled code
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(PATIENCE)
            try:
                read(path)
            except InputError:
                outcome = "refused"
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}".replace("\n", " ")[:150]
            else:
                outcome = "read"
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            print(outcome, flush=True)


def fuzz(reader: str, seed: int, inputs: int) -> dict[int, str]:
    """What came of each input: "read", "refused", an error of another type, or how the process ended."""
    outcomes: dict[int, str] = {}
    while len(outcomes) < inputs:
        command = [sys.executable, "-m", "tests.fuzz", "--child", reader, str(seed)]
        how = {"cwd": ROOT, "capture_output": True, "text": True, "errors": "replace"}
        found = subprocess.run([*command, str(len(outcomes)), str(inputs)], **how)
        lines = found.stdout.splitlines()
        for line in lines:
            number, _, outcome = line.partition(" ")
            outcomes[int(number)] = outcome or "?"
        if len(outcomes) < inputs or found.returncode:
            if not lines:
                raise RuntimeError(f"{reader}: cannot read what is not damaged: {found.stderr}")
            end = -found.returncode
            name = signal.Signals(end).name if end > 0 else f"exit {found.returncode}"
            outcomes[max(outcomes)] = f"process ended: {name}"
    return outcomes


def failures(outcomes: dict[int, str]) -> dict[int, str]:
    return {i: what for i, what in outcomes.items() if what not in ("read", "refused")}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], *map(int, sys.argv[3:]))
        return 0
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", help=", ".join(READERS))
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--inputs", type=int, default=400, help="for each reader")
    number.add_argument("--times", type=int, help="of what the long tests give each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bounds", action="store_true", help="compiled loops check indices")
    given = parser.parse_args()
    failed = False
    if given.bounds:  # in a cache of its own: Numba does not tell the code of one from the other's
        os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BOUNDS)}
    for reader in given.readers or READERS:
        inputs = given.times * FEWER.get(reader, MANY) if given.times else given.inputs
        outcomes = fuzz(reader, given.seed, inputs)
        wrong = failures(outcomes)
        count = Counter(outcomes.values())
        said = f"{count['read']} read, {count['refused']} refused, {len(wrong)} failed"
        print(f"{reader}: {said}", flush=True)
        for number, what in wrong.items():
            print(f"  seed {given.seed}, input {number}: {what}")
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
