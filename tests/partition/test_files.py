"""Files that are written: whole or not at all, by several writers, and never through a planted link."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dgsuite.base import files
from dgsuite.base.errors import InputError
from dgsuite.base.files import atomic_write
from tests.support.patience import PATIENCE


def write(path, text):
    with atomic_write(path) as part, open(part, "w") as file:
        file.write(text)


def temporary(path, random):
    """A temporary name of this machine."""
    return Path(files._name(str(path), random, files._mark(str(path))))


def test_two_threads_that_write_one_path(tmp_path):
    """Both write at the same time; the last one to end is seen, and it is complete."""
    path = tmp_path / "out.txt"
    both = threading.Barrier(2, timeout=PATIENCE)
    names, failures = [], []

    def one(text):
        try:
            with atomic_write(path) as part:
                names.append(part)
                both.wait()
                with open(part, "w") as file:
                    file.write(text[:5])
                    both.wait()
                    file.write(text[5:])
                both.wait()
        except Exception as error:
            failures.append(error)

    texts = ["a" * 10, "b" * 10]
    threads = [threading.Thread(target=one, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(names)) == 2
    assert path.read_text() in texts
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Neither where the name was guessed, nor where it used to be: target, process id, "part"."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = tmp_path / "out.txt"
    (tmp_path / f"out.txt.{os.getpid()}.part").symlink_to(victim)
    write(path, "new")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")
    monkeypatch.setattr("dgsuite.base.files.token_hex", lambda size: "guessed")
    planted = temporary(path, "guessed")
    planted.symlink_to(victim)
    with pytest.raises(InputError, match=r"out\.txt: cannot be written: File exists"):
        write(path, "newer")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")
    assert planted.is_symlink()


def test_the_umask_sets_the_mode(tmp_path):
    code = (
        "import os, sys; from dgsuite.base.files import atomic_write; os.umask(0o027)\n"
        "with atomic_write(sys.argv[1]) as part: open(part, 'w').close()"
    )
    path = tmp_path / "out.txt"
    subprocess.run([sys.executable, "-c", code, path], check=True, timeout=PATIENCE)
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


HOLD = """
import sys
from dgsuite.base.files import atomic_write
with atomic_write(sys.argv[1]) as part:
    print(part, flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_leaves_nothing_once_the_file_is_written_again(tmp_path):
    """Until the process is killed, its temporary file is kept."""
    path = tmp_path / "RANDOM [0] out.txt"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        part = Path(process.stdout.readline().rstrip())
        write(path, "first")
        assert {*tmp_path.iterdir()} == {path, part}
        process.kill()
    assert part.exists()
    write(path, "second")
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "second"


def test_a_file_that_this_process_writes_is_kept(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_write(path) as part:
        Path(part).write_text("outer")
        write(path, "inner")
        assert path.read_text() == "inner"
    assert path.read_text() == "outer"


def test_only_temporary_files_of_the_same_target_and_machine_are_removed(tmp_path, monkeypatch):
    path = tmp_path / ("x" * 60)  # of which a temporary name has fewer
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link, folder, pipe, gone = (temporary(path, digit * 16) for digit in "0123")
    link.symlink_to(victim)
    folder.mkdir()
    os.mkfifo(pipe)
    gone.touch()
    kept = [victim, link, folder, pipe, temporary(path, "0"), temporary(path, "0" * 17)]
    kept += [temporary(tmp_path / ("x" * size), "5" * 16) for size in (59, 61)]
    monkeypatch.setattr(files, "_machine", lambda: b"another")
    kept.append(temporary(path, "4" * 16))
    monkeypatch.undo()
    for other in kept[4:]:
        other.touch()
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: sorted(listed(folder)))  # `gone` after others
    write(path, "text")
    assert {*tmp_path.iterdir()} == {path, *kept}
    assert victim.read_text() == "precious"


def test_a_temporary_file_that_is_removed_before_it_is_locked(tmp_path, monkeypatch):
    """As another process does that looks for abandoned files at this moment."""
    path = tmp_path / "out.txt"
    lock, removed = fcntl.flock, []

    def late(descriptor, how):
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with atomic_write(path) as part:
        Path(part).write_text("outer")
        write(path, "inner")
        assert {*tmp_path.iterdir()} == {path, Path(part)}
    assert len(removed) == 1
    assert path.read_text() == "outer"


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    """Files are written. What is left there is kept, since a running process may write it."""
    path = tmp_path / "out.txt"

    def refuse(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with atomic_write(path) as part:
        left = temporary(path, "0" * 16)
        left.touch()
        write(path, "inner")
        monkeypatch.undo()
        write(path, "later")
        assert {*tmp_path.iterdir()} == {path, Path(part)}
        Path(part).write_text("outer")
    assert path.read_text() == "outer"


LIMITED = """
import sys
from pathlib import Path
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from dgsuite.core.results import plots
from dgsuite.studies.report import page
from dgsuite.genval.__main__ import main
from dgsuite.base import files, netcdf
from dgsuite.base.errors import InputError

figure = Figure()
figure.subplots().plot([0, 1])
writers = {
    "a.nc": lambda path: netcdf.write(xr.Dataset({"x": ("node", np.arange(10000))}), path),
    "a.png": lambda path: plots.write(figure, path),
    "a.csv": lambda path: files.write_csv(path, ["number"], [[i] for i in range(20000)]),
    "a.html": lambda path: page.write("text " * 20000, Path(path)),
}
for path, write in writers.items():
    try:
        write(path)
    except InputError as error:
        print(error)
print(main(["edges", "ring", "--n", "20000", "-o", "a.txt"]))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [0, 1000, 10_000])
def test_every_writer_ends_in_one_line_if_a_file_may_not_be_that_large(tmp_path, size):
    """The NetCDF file then ends in its header, in its metadata or in its data."""

    from matplotlib import font_manager  # writes its list of fonts where there is none

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    assert font_manager.fontManager
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=PATIENCE,
        check=False,
    )
    names = ("a.nc", "a.png", "a.csv", "a.html")
    assert done.stdout.splitlines() == [
        *(f"{name}: cannot be written: File too large" for name in names),
        "2",
    ]
    assert done.stderr == "error: a.txt: cannot be written: File too large\n"
    assert done.returncode == 0
    assert not list(tmp_path.iterdir())
