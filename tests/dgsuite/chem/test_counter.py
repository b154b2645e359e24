"""The counter in shared memory."""

import asyncio
import gc
import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import chain

import pytest

import dgsuite
from dgsuite.core.transports import memory
from dgsuite.core.workers.placement import new_run
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import counters
from dgsuite.studies.chem.counters import Counter, shared
from dgsuite.studies.transports.chip import Core
from tests.support.clusters import assert_nothing_held, client_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared on Linux alone")

FETCHES = 20_000

PEER = """
import sys
from dgsuite.studies.chem.counters import Counter
from dgsuite.core.transports.memory import Where

counter = Counter.attached(Where(*map(int, sys.argv[1:])))
next(counter)  # it is compiled
print("ready", flush=True)
sys.stdin.read(1)
print(*(next(counter) for _ in range({fetches})))
"""


def peer(counter):
    """A process that waits for a byte, and then fetches."""
    code = PEER.format(fetches=FETCHES)
    command = [sys.executable, "-c", code, *map(str, counter.where)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_each_number_goes_to_one_process():
    """Three processes at a time miss none and get none twice, each in ascending order."""
    counter = Counter.made(7)
    with ExitStack() as stack:
        peers = [stack.enter_context(peer(counter)) for _ in range(2)]
        for each in peers:
            assert each.stdout.readline() == "ready\n"
        for each in peers:
            each.stdin.write("!")
            each.stdin.flush()
        got = [[next(counter) for _ in range(FETCHES)]]
        got += [list(map(int, each.communicate()[0].split())) for each in peers]
    assert all(numbers == sorted(numbers) for numbers in got)
    assert sorted(chain.from_iterable(got)) == list(range(9, 9 + 3 * FETCHES))
    assert next(counter) == 9 + 3 * FETCHES


@pytest.mark.few(2)
@pytest.mark.parametrize("protocol", ["mpb", "tcp", "mpimpb"])
def test_workers_count_together(protocol):
    """On any transport; over the buffers of `mpb` without a message for each number."""
    with client_of(2, protocol=protocol) as client:
        counters.install(client)
        places, run = worker_addresses(client), new_run()
        epoch = Session.of(client).workers()[places[0]]["epoch"]

        def fetched():
            ask = counters.counter(run, places[0], epoch, 2)
            return [ask()() for _ in range(100)]

        def asked(dask_worker):
            """Have a worker note that it is asked for a number."""
            handlers, dask_worker.asked = dask_worker.handlers, 0
            original = handlers["dgsuite_count"]

            def noted(**arguments):
                dask_worker.asked += 1
                return original(**arguments)

            handlers["dgsuite_count"] = noted

        client.run(asked)
        tasks = [client.submit(fetched, workers=[place], pure=False) for place in places]
        assert sorted(chain.from_iterable(client.gather(tasks))) == list(range(2, 202))
        questions = client.run(lambda dask_worker: dask_worker.asked, workers=[places[0]])
        assert questions[places[0]] == (0 if shared(places[0]) else 100)
        del tasks
        assert_nothing_held(client)
        with pytest.raises(dgsuite.RunError, match="is over"):
            client.submit(fetched, workers=[places[1]], pure=False).result()


def is_open(fd, file):
    """Whether a number is still that file's; another thread may have opened another one since."""
    try:
        return os.path.samestat(os.fstat(fd), file)
    except OSError:
        return False


def test_files_are_closed_though_what_has_them_was_not_made(monkeypatch):
    """And without an error that nobody hears."""
    unraised, files = [], []

    def noted(fd):
        files.append((fd, os.fstat(fd)))

    def full(*given):
        raise OSError(28, "No space left on device")

    async def core():
        made = Core.here(4096)
        noted(made.fd)

    counter = Counter.made(0)
    noted(counter._fd)
    del counter
    asyncio.run(core())
    held, fd = memory.make("test", 4096)
    noted(fd)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "unraisablehook", unraised.append)
        patch.setattr(memory, "make", full)
        with pytest.raises(OSError, match="No space"):
            asyncio.run(core())
        patch.setitem(sys.modules, "dgsuite.studies.chem._compiled", None)
        with pytest.raises(ImportError):
            Counter(held, fd)
        gc.collect()
    assert not unraised
    assert not any(is_open(*file) for file in files)
