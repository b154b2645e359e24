"""Files that are written: whole or not at all, by several writers, and never through a planted link."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import pytest

from partition.errors import InputError
from partition.files import whole


def write(path, text):
    with whole(path) as part, open(part, "w") as file:
        file.write(text)


def test_two_threads_that_write_one_path(tmp_path):
    """Both write at the same time; the last one to end is seen, and it is complete."""
    path = tmp_path / "out.txt"
    both = threading.Barrier(2, timeout=30)
    names, failures = [], []

    def one(text):
        try:
            with whole(path) as part:
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
    monkeypatch.setattr("partition.files.token_hex", lambda size: "guessed")
    planted = tmp_path / "out.txt.guessed.part"
    planted.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write(path, "newer")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")
    assert planted.is_symlink()


def test_the_umask_sets_the_mode(tmp_path):
    code = (
        "import os, sys; from partition.files import whole; os.umask(0o027)\n"
        "with whole(sys.argv[1]) as part: open(part, 'w').close()"
    )
    path = tmp_path / "out.txt"
    subprocess.run([sys.executable, "-c", code, path], check=True, timeout=60)
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

    with pytest.raises(error), whole(path) as part:
        fail(part)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        write(tmp_path / "no" / "out.txt", "")
