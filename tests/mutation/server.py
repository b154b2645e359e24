"""Runs tests in processes forked from one that has imported the libraries they need, which takes seconds.

Each line of stdin is a request: a list of pytest's options, and variables of the environment. Each line of
stdout says how the process ended: its status, minus the signal's number, or None if it was still running
after ``seconds``.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module

LIBRARIES = (
    *("numpy", "scipy.sparse.csgraph", "xarray", "networkx", "numba", "dask.array", "distributed"),
    *("distributed.deploy.local", "hypothesis.strategies", "pytest", "_pytest.pytester"),
    "h5netcdf",
)


def run(options: list[str], env: dict[str, str], output: str) -> None:
    """Become a process that runs tests."""
    os.setsid()
    os.environ.update(env)
    with open(output, "wb") as file, open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    import pytest

    status = pytest.main(options)
    sys.stdout.flush()
    sys.exit(status)  # with what is done at exit, which may hang


def ended(child: int, seconds: float) -> int | None:
    """The status of a process, which is killed with all that it started."""
    deadline, status = time.monotonic() + seconds, None
    try:
        while status is None and time.monotonic() < deadline:
            pid, code = os.waitpid(child, os.WNOHANG)
            status = os.waitstatus_to_exitcode(code) if pid else None
            time.sleep(0.05)
    finally:
        with suppress(ProcessLookupError):  # also workers that a test has left
            os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status


def main() -> None:
    for name in LIBRARIES:
        import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            run(request["options"], request["env"], request["output"])
        print(json.dumps(ended(child, request["seconds"])), flush=True)


if __name__ == "__main__":
    main()
