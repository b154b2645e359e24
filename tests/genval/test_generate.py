"""IMSuite's inputs: byte for byte what the original writes, readable, from the command line too."""

import hashlib
import os
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.genval import generate
from dgsuite.genval.__main__ import main
from dgsuite.genval.imsuite import kinds
from dgsuite.genval.java import BLOCK, Random
from dgsuite.genval.plan import Plan
from dgsuite.partition.sources.imsuite import KERNELS, read
from tests.support.originals import generated_name
from tests.support.paths import ROOT
from tests.support.processes import python


def test_a_bound_is_above_0():
    with pytest.raises(ValueError, match="bound must be"):
        Random(1).next_int(0)


def java(seed):
    """The specification, word by word: a function that gives the next bits."""
    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def following(bits):
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return state >> (48 - bits)

    return following


def bounded(following, bound):
    if bound & -bound == bound:
        return (bound * following(31)) >> 31
    while True:
        bits = following(31)
        value = bits % bound
        if bits - value + (bound - 1) < 1 << 31:
            return value


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.tuples(st.integers(0, 20), st.none() | st.integers(1, 2**31 - 1)), max_size=6),
)
def test_many_numbers_are_those_of_single_calls(seed, calls):
    ours, following = Random(seed), java(seed)
    for count, bound in calls:
        if bound is None:
            expected = [(following(32) ^ 2**31) - 2**31 for _ in range(count)]
        else:
            expected = [bounded(following, bound) for _ in range(count)]
        assert ours.ints(count, bound).tolist() == expected


def test_numbers_beyond_a_block():
    count, bound = BLOCK * 2 + 3, 3 << 29  # a quarter of the numbers is rejected
    ours, following = Random(7), java(7)
    assert ours.ints(count, bound).tolist() == [bounded(following, bound) for _ in range(count)]
    assert ours.next_int() == (following(32) ^ 2**31) - 2**31


def test_every_file_of_imsuite(imsuite_inputs):
    """Those that its generators wrote for seed 101, and those of its release."""
    lines = (ROOT / "tests" / "data" / "imsuite.sha256").read_text().splitlines()
    assert len(lines) > 250
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((imsuite_inputs / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("path", sorted(ROOT.glob("configs/data/*")), ids=lambda p: p.stem)
def test_files_of_the_project(path):
    kernels, n, kind, chosen = generated_name(path)
    for kernel in kernels:
        assert generate(kernel, n, kind, **chosen) == path.read_bytes()


def test_seeds_and_defaults():
    assert generate("mis", 32, "spmax", 1) != generate("MIS", 32, "SPMAX", 2)
    assert generate("dr", 9) == generate("dr", 9, "rn", 101, weights="wrn", max=None)
    assert generate("mst", 20, "sp-max") == generate("mst", 20, "spar_max", 101)
    tree, more = (read(generate("bf", 64, kind), "bf") for kind in ("spmin", "spmax"))
    ends = [set(zip(g.src.tolist(), g.dst.tolist(), strict=True)) for g in (tree, more)]
    assert ends[0] < ends[1]
    for kernel in KERNELS:
        for kind in kinds(kernel):
            for n in (1, 2, 3, 5):
                least = 8 if kernel == "by" else 1 if kind in ("ring", "star", "chain") else 2
                if n < least:
                    with pytest.raises(InputError, match=f"n must be at least {least}, got {n}"):
                        generate(kernel, n, kind)
                else:
                    assert read(generate(kernel, n, kind), kernel).n == n


def test_long_trees():
    """A chain of nodes, each of which would be a call in the original."""
    from dgsuite.genval.imsuite import _parents

    n = 100_000
    assert _parents(n, np.ones(n, np.int64)).tolist() == [0, *range(n - 1)]
    assert not _parents(n, np.full(n, n)).any()


@pytest.mark.timeout(20)
def test_large_files():
    mst = read(generate("mst", 512, "spmax"), "mst")
    assert len(set(mst.weights.tolist())) == len(mst.src) == 512 * 9 - 1
    assert len(read(generate("dr", 512, "spmin"), "dr").src) == 511
    assert len(read(generate("lcr", 100_000), "lcr").uid) == 100_000


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("nope", 8), {}, "kernel 'nope' is unknown; one of bf, by, dp"),
        (("mis", 8, "star"), {}, "kind 'star' is unknown for mis; one of spmin, spmax, cplt, rn"),
        (("vc", 8, "cplt"), {}, "kind 'cplt' is unknown for vc; one of star, chain, rn"),
        (("lcr", 8, "rn"), {}, "kind 'rn' is unknown for lcr; one of ring"),
        (("by", 7, "rn"), {}, "n must be at least 8, got 7"),
        (("mis", 1, "spmin"), {}, "n must be at least 2, got 1"),
        (("lcr", 0), {}, "n must be at least 1, got 0"),
        (("mis", 4, "spmax"), {}, "n must not be 4 for spmax"),
        (("mis", 8.0, "spmax"), {}, "n must be an integer, got 8.0"),
        (("mis", True, "spmax"), {}, "n must be an integer, got True"),
        (("mis", 10**6, "rn"), {}, "n must be at most 32768 for mis"),
        (("mst", 8193, "rn"), {}, "n must be at most 8192 for mst"),
        (("mis", 8, "rn", "x"), {}, "seed must be an integer, got 'x'"),
        (("kc", 8, "spmin"), {"k": 0}, "k must be at least 1, got 0"),
        (("kc", 8, "rn"), {"k": 4}, "k must be 3 for rn"),
        (("dp", 8, "spmin"), {"k": 2}, "option 'k' has no meaning for dp"),
        (("dp", 8, "spmin"), {"max": 0}, "max must be at least 1, got 0"),
        (("dp", 8, "spmin"), {"max": 2**31}, "max must be at most 2147483647, got 2147483648"),
        (("lcr", 2**31), {}, "n must be at most 2147483647"),
        (("vc", 8, "chain"), {"max": 2}, "'max' has no meaning for a chain; it is for the kind rn"),
        (("hs", 8), {"max": 2}, "option 'max' has no meaning for hs; it is for bf, by"),
        (("dr", 8, "rn"), {"weights": "one"}, "weights must be 'weq' or 'wrn', got 'one'"),
        (("mst", 8, "rn"), {"weights": "weq"}, "option 'weights' has no meaning for mst"),
        (("mst", 8, "rn"), {"weight": "weq"}, "option 'weight' is unknown; one of max, k, weights"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        generate(*arguments, **options)


def test_content_that_cannot_be_read():
    with pytest.raises(InputError, match="<generated>, line 2: adjacency row 0"):
        read(b"3\n01\n", "mis")
    with pytest.raises(InputError, match="<generated>, line 1: not a text file"):
        read(b"\xff", "mis")


command = partial(python, "-m", "genval")


def test_generating_from_the_command_line(tmp_path):
    done = command("generate", "mst", "--n", 32, "--kind", "sp-max", "-o", "in.txt", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "in.txt").read_bytes() == generate("mst", 32, "spmax")
    done = command("generate", "KC", "--n=9", "--kind=spmin", "--k=2", "--max=3", cwd=tmp_path)
    assert done.stdout.encode() == generate("kc", 9, "spmin", k=2, max=3)
    done = command("generate", "dr", "--n=9", "--weights=weq", "--seed=5", "-o", "-", cwd=tmp_path)
    assert done.stdout.encode() == generate("dr", 9, "rn", 5, weights="weq")
    assert [p.name for p in tmp_path.iterdir()] == ["in.txt"]


def test_edges_from_the_command_line(here, tmp_path):
    done = here(main, "edges", "er", "--n=50", "--m=200", "--seed=3", "--output=edges.txt")
    assert done.returncode == 0
    found = dgsuite.Graph.read_edge_list(tmp_path / "edges.txt", n=50)
    expected = genval.graph("er", 50, m=200, seed=3)
    assert (found.to_scipy() != expected.to_scipy()).nnz == 0


def test_validating_from_the_command_line(here, tmp_path):
    content = generate("mis", 24, "spmax")
    (tmp_path / "in.txt").write_bytes(content)
    result = dgsuite.run("mis", dgsuite.Graph.read_imsuite(content, "mis"))
    dgsuite.save(result, tmp_path / "good.nc")
    result["in_mis"][:] = 0
    dgsuite.save(result, tmp_path / "bad.nc")
    done = command("validate", "MIS", "in.txt", "good.nc", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mis: valid\n", "")
    done = here(main, "validate", "mis", "in.txt", "bad.nc")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("mis: 24 violations: node 0: domination")
    for arguments, message in (
        (("mis", "none.txt", "good.nc"), "none.txt: no such file"),
        (("mis", "in.txt", "none.nc"), "none.nc: no such file"),
        (("mis", "in.txt", "in.txt"), "in.txt: not a NetCDF file"),
        (("bf", "in.txt", "good.nc"), "in.txt, line 2: the root must be"),
        (("lcr", "in.txt", "good.nc"), "in.txt, line 2: an identifier does not fit"),
    ):
        refused(here(main, "validate", *arguments), message)


def refused(done, message):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_bad_commands(here, tmp_path):
    for arguments, message in (
        (("generate", "mst"), "Missing option '--n'"),
        (("generate", "mst", "--n=x"), "'x' is not a valid integer"),
        (("generate", "nope", "--n=8"), "kernel 'nope' is unknown"),
        (("generate", "by", "--n=7"), "n must be at least 8"),
        (("generate", "mst", "--n=8", "--output=no/in.txt"), "the folder no does not exist"),
        (("generate", "mst", "--n=8", "--output=."), ".: is a folder"),
        (("edges", "nope", "--n=8"), "kind 'nope' is unknown; one of ring"),
    ):
        refused(here(main, *arguments), message)
    assert not list(tmp_path.iterdir())
    done = here(main)
    assert (done.returncode, done.stdout) == (2, "")
    done = here(main, "--help")
    assert done.returncode == 0
    assert "validate" in done.stdout


def test_an_output_that_is_no_file_stays_what_it_is(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "loop"):
        assert main(["edges", "ring", "--n=3", f"--output={tmp_path / name}"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{name}: is not a regular file" in line
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "loop").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("there", [True, False])
def test_an_output_that_is_a_link_is_written_where_it_leads(tmp_path, there):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/edges.txt")
    if there:
        (tmp_path / "folder" / "edges.txt").write_text("old")
    assert main(["edges", "ring", "--n=3", f"--output={tmp_path / 'link'}"]) == 0
    assert (tmp_path / "link").is_symlink()
    (written,) = (tmp_path / "folder").iterdir()
    assert written.read_text() == "# ring, 3 nodes, seed 101\n0 1\n1 2\n2 0\n"


def test_interrupted(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "edges", interrupted)
    assert main(["edges", "ring", "--n=3", f"--output={tmp_path / 'edges.txt'}"]) == 130
    assert capsys.readouterr().err == "genval: interrupted\n"
    assert not list(tmp_path.iterdir())
