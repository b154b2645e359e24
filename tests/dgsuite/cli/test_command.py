"""Signals end every command soon, with its own exit status and one line, and leave nothing behind."""

import fcntl
import os
import re
import signal
import subprocess
import termios
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from dgsuite.base.command import Command
from tests.support.clusters import heed_signals
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.processes import begun, python

COMMAND = """
import ctypes, os, signal, sys, threading, time
from dgsuite.base.command import Command

def work():
    try:
        print("begun", flush=True)
        {work}
    finally:
        {clean}
    return 0

Command(work).run()
"""
CLEAN = "print('cleaned', flush=True)"


def started(tmp_path, work, clean=CLEAN, preexec_fn=heed_signals, stderr=subprocess.PIPE):
    """A process that runs a command, once it is at work."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(COMMAND).format(work=work, clean=clean))
    # what comes after the first line is left for `communicate`
    how = {"stdout": subprocess.PIPE, "stderr": stderr, "bufsize": 0, "text": False}
    process = begun(program, preexec_fn=preexec_fn, **how)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    return process


INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
ELSEWHERE = (
    "threading.Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT)).start();"
    " time.sleep(100)"
)
SUSPEND = "ctypes.CDLL(None).sigsuspend(bytes([255] * 128))"


SIGNALS = [
    (signal.SIGINT, "interrupted", "time.sleep(100)", CLEAN, b"cleaned\n"),
    (signal.SIGTERM, "terminated", "time.sleep(100)", CLEAN, b"cleaned\n"),
    (signal.SIGHUP, "hung up", "time.sleep(100)", CLEAN, b"cleaned\n"),
    # errors of cleaning up are not reported, and a second signal does not disturb it
    (signal.SIGTERM, "terminated", "time.sleep(100)", "raise OSError('consequence')", b""),
    (0, "interrupted", INTERRUPT, f"{INTERRUPT}; {CLEAN}", b"cleaned\n"),
    # another thread may get it: one between Python's last look at signals and a system call
    (0, "interrupted", ELSEWHERE, CLEAN, b"cleaned\n"),
    # compiled code, in which Python handles no signal: this returns after a handler, that never
    (signal.SIGINT, "interrupted", "ctypes.CDLL(None).pause()", "time.sleep(100)", b""),
    pytest.param(signal.SIGINT, "interrupted", SUSPEND, "pass", b"", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("number", "word", "work", "clean", "printed"), SIGNALS)
def test_a_signal_ends_a_command_with_one_line(tmp_path, number, word, work, clean, printed):
    process = started(tmp_path, work, clean)
    process.send_signal(number)  # 0 is none
    assert process.communicate(timeout=PATIENCE) == (printed, f"{word}\n".encode())
    assert process.returncode == 128 + (number or signal.SIGINT)


def test_on_a_terminal_the_line_takes_the_place_of_a_bar(tmp_path):
    ours, theirs = os.openpty()
    bar = "print('half a bar', end='', file=sys.stderr); time.sleep(100)"
    process = started(tmp_path, bar, stderr=theirs)
    os.close(theirs)
    seen = b""
    while not seen.endswith(b"half a bar"):
        seen += os.read(ours, 100)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert os.read(ours, 100) == b"\r\x1b[Kinterrupted\r\n"
    os.close(ours)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's /proc")
def test_a_terminal_that_closes_ends_a_command_and_what_it_started(tmp_path):
    """As when an ssh connection is lost: the system sends a signal to all that the terminal has started."""

    def take_terminal():
        heed_signals()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    ours, theirs = os.openpty()
    run = ["kernel", "lcr", "ring", "--n", "20000", "--workers", "2", "-o", tmp_path / "lcr.nc"]
    there = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    how = {"cwd": tmp_path, "start_new_session": True, "preexec_fn": take_terminal}
    process = begun("-m", "dgsuite", *run, **there, **how)
    os.close(theirs)
    seen = b""
    while b"lcr, clocked: round" not in seen:
        seen += os.read(ours, 100)
    started = [process.pid, *(child.pid for child in psutil.Process(process.pid).children())]
    shared = set().union(*(semaphores(pid) for pid in started))
    assert len(started) == 4  # two workers, and the process that removes their semaphores
    assert shared
    os.close(ours)
    assert process.wait(PATIENCE) == 128 + signal.SIGHUP
    deadline = time.monotonic() + PATIENCE
    while any(map(psutil.pid_exists, started)) or any(map(os.path.exists, shared)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


def semaphores(pid):
    """Files of the named semaphores of a process."""
    return {*re.findall(r"/dev/shm/sem\.\S+", Path(f"/proc/{pid}/maps").read_text())}


def test_signals_that_are_ignored_stay_so(tmp_path):
    """A shell's background jobs ignore SIGINT."""

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    process = started(tmp_path, f"{INTERRUPT}; print('goes on')", preexec_fn=ignore)
    assert process.communicate(timeout=PATIENCE) == (b"goes on\ncleaned\n", b"")
    assert process.returncode == 0


COMMANDS = [
    *("dgsuite.experiment configs/quickstart.toml --dry-run", "dgsuite.genval generate mst --n 8"),
    *("dgsuite report configs", "dgsuite graphalytics . --graph none", "dgsuite scaling none.nc"),
    *("dgsuite scc configs/scc-hf-figure5.toml", "dgsuite transports bench", "dgsuite statics"),
]
"""Each imports a large package before it does anything else."""

INTERRUPTS = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
finally:
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_interrupted_while_they_import(command, tmp_path):
    """Two interrupts, from within the import of the first large package, end a command like any other."""
    for package in ("dask", "numpy", "pydantic", "rich", "h5py", "xarray"):
        (tmp_path / f"{package}.py").write_text(INTERRUPTS)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = python("-m", *command.split(), preexec_fn=heed_signals, PYTHONPATH=path)
    assert done.returncode == 130, done.stderr
    (line,) = done.stderr.splitlines()
    assert line in ("interrupted", "interrupted; finished points are kept", "genval: interrupted")


ERRORS = [
    (OSError(28, "No space left on device"), "error: No space left on device"),
    (FileNotFoundError(2, "No such file", "a.toml"), "error: a.toml: No such file"),
    (OSError("as Dask has it"), "error: as Dask has it"),
]


@pytest.mark.parametrize(("error", "line"), ERRORS)
def test_errors_of_the_system_are_said_in_words(error, line, capsys):
    def work():
        raise error

    assert Command(work)() > 0
    assert capsys.readouterr().err == f"{line}\n"


EDGES = ["-m", "dgsuite.genval", "edges", "ring", "--n"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_no_part_of_a_file_under_its_name(tmp_path, number):
    """Where it is killed, a part of another name."""
    process = begun(*EDGES, "100000000", "-o", "edges.txt", cwd=tmp_path)
    while not writes_into(process.pid, tmp_path):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=PATIENCE)[1]
    if number == signal.SIGKILL:
        (left,) = os.listdir(tmp_path)
        assert left.startswith("edges.txt.")
        assert left.endswith(".part")
    else:
        assert (process.returncode, said) == (143, "genval: terminated\n")
        assert not list(tmp_path.iterdir())


def writes_into(pid, folder):
    """Whether a process has a file of a folder open, with something in it."""
    for opened in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if os.readlink(opened).startswith(str(folder)) and opened.stat().st_size:
                return True
    return False
