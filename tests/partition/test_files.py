"""Files that are written: whole or not at all, by several writers, and never through a planted link."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from dgsuite.base import netcdf
from dgsuite.base.errors import InputError
from dgsuite.base.files import atomic_write, write_csv
from dgsuite.core.results import plots
from dgsuite.genval.__main__ import main
from dgsuite.studies.report import page
from tests.support.limits import files_of_at_most
from tests.support.processes import python


def write(path, text):
    with atomic_write(path) as part, open(part, "w") as file:
        file.write(text)


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Neither where the name was guessed, nor where it used to be: target, process id, "part"."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = tmp_path / "out.txt"
    (tmp_path / f"out.txt.{os.getpid()}.part").symlink_to(victim)
    write(path, "new")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")
    monkeypatch.setattr("dgsuite.base.files.token_hex", lambda size: "guessed")
    planted = tmp_path / "out.txt.guessed.part"
    planted.symlink_to(victim)
    with pytest.raises(InputError, match=r"out\.txt: cannot be written: File exists"):
        write(path, "newer")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")
    assert planted.is_symlink()


def test_the_umask_sets_the_mode(tmp_path):
    code = "import os, sys; from dgsuite.base.files import atomic_write; os.umask(0o027)\n"
    code += "with atomic_write(sys.argv[1]) as part: open(part, 'w').close()"
    path = tmp_path / "out.txt"
    assert python("-c", code, path).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["out.txt", "x" * 255, "ü" * 127])
def test_names_of_any_length(tmp_path, name):
    write(tmp_path / name, "text")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_if_writing_fails(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail(part):
        with open(part, "w") as file:
            file.write("ne")
        raise error

    with pytest.raises(error), atomic_write(path) as part:
        fail(part)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        write(tmp_path / "no" / "out.txt", "")


def test_a_file_that_this_process_writes_is_kept(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_write(path) as part:
        Path(part).write_text("outer")
        write(path, "inner")
        assert path.read_text() == "inner"
    assert path.read_text() == "outer"


FIGURE = Figure()
FIGURE.subplots().plot([0, 1])
WRITERS = {
    "nc": lambda path: netcdf.write(xr.Dataset({"x": ("node", np.arange(10000))}), path),
    "png": lambda path: plots.write(FIGURE, path),
    "csv": lambda path: write_csv(path, ["number"], [[i] for i in range(20000)]),
    "html": lambda path: page.write("text " * 20000, Path(path)),
    "txt": lambda path: main(["edges", "ring", "--n", "20000", "-o", path]),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("size", [0, 1000, 10_000])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_gets_too_large_is_one_line(kind, size, tmp_path, monkeypatch, capsys):
    """The NetCDF file then ends in its header, in its metadata or in its data."""
    from matplotlib import font_manager  # writes its list of fonts where there is none

    assert font_manager.fontManager
    monkeypatch.chdir(tmp_path)
    path = f"a.{kind}"
    try:
        with files_of_at_most(size):
            assert WRITERS[kind](path) == 2
        said = capsys.readouterr().err.removeprefix("error: ").rstrip("\n")
    except InputError as error:
        said = str(error)
    assert said == f"{path}: cannot be written: File too large"
    assert not list(tmp_path.iterdir())
