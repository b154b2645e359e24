"""The barrier in shared memory."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from dgsuite.transports import memory
from dgsuite.transports.gate import ROW, SUPPORTED, Gate, Word
from partition.errors import RunError

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="needs a futex, and x86-64")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_all_hear_what_all_say(size):
    """In each of many passes, however long each task takes."""
    shared = np.zeros(Gate.nbytes(size), np.uint8)
    heard, rng = {}, np.random.default_rng(size)
    pauses = rng.choice([0, 0, 0, 1e-3], (size, 300))

    def task(rank):
        gate = Gate(shared, rank, size)
        for number, pause in enumerate(pauses[rank]):
            time.sleep(pause)
            gate.arrive(Word(number, 1 << rank, b"%d" % (rank * number)))
            there = gate.look_out(1e-4) if rank % 2 else gate.is_open()
            while not there:
                there = gate.sleep(0.02)
            heard[rank, number] = gate.words()

    tasks = [threading.Thread(target=task, args=(rank,)) for rank in range(size)]
    for each in tasks:
        each.start()
    for each in tasks:
        each.join()
    assert len(heard) == size * 300
    for (_, number), words in heard.items():
        assert words == [Word(number, 1 << rank, b"%d" % (rank * number)) for rank in range(size)]


def test_it_stays_shut_while_one_is_missing():
    gate = Gate(np.zeros(Gate.nbytes(2), np.uint8), 0, 2)
    gate.arrive(Word(0, 0, b""))
    begin = time.perf_counter()
    assert not gate.look_out(1e-3)
    assert not gate.sleep(0.05)
    assert time.perf_counter() - begin > 0.04


def test_what_is_too_long_is_refused():
    gate = Gate(np.zeros(Gate.nbytes(2), np.uint8), 0, 2)
    with pytest.raises(RunError, match=f"a vote of {ROW} bytes"):
        gate.arrive(Word(0, 0, bytes(ROW)))


def test_memory_of_another_process():
    """It is found by its process, file and size, and nothing else is taken for it."""
    mine, fd = memory.make("test", 4096)
    try:
        theirs = memory.attach_of(os.getpid(), fd, 4096)
        mine[5] = 7
        assert theirs[5] == 7
        assert memory.attach_of(os.getpid(), fd, 8192) is None
        assert memory.attach_of(2**22 + 1, fd, 4096) is None
    finally:
        os.close(fd)
    with open(os.devnull, "rb+") as other:
        assert memory.attach_of(os.getpid(), other.fileno(), 0) is None
