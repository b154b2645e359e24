"""The barrier in shared memory."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from dgsuite.core.exchange.gate import ROOM, Gate, Word
from dgsuite.core.transports import memory

pytestmark = pytest.mark.skipif(not Gate.is_there(), reason="needs a futex, and x86-64")


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
    """In each pass; meanwhile the other sleeps."""
    shared = np.zeros(Gate.nbytes(2), np.uint8)
    gate, late = (Gate(shared, rank, 2) for rank in range(2))
    for number in range(3):
        gate.arrive(Word(number, 0, b""))
        begin = time.perf_counter()
        assert not gate.look_out(1e-3)
        assert not gate.sleep(0.05)
        assert time.perf_counter() - begin > 0.04
        late.arrive(Word(number, 0, b""))
        assert gate.is_open()


@pytest.mark.parametrize("size", [8, 9, 64, 65, 130, 1000])
def test_each_says_to_which_of_many_it_sends(size):
    """The last one, all of them, or none."""
    shared = np.zeros(Gate.nbytes(size), np.uint8)
    gates = [Gate(shared, rank, size) for rank in range(size)]
    dues = [(1 << size - 1, (1 << size) - 1, 0)[rank % 3] for rank in range(size)]
    words = [Word(7, due, bytes(ROOM)) for due in dues]
    for gate, word in zip(gates, words, strict=True):
        gate.arrive(word)
    assert all(gate.is_open() and gate.words() == words for gate in gates[::7])


@pytest.mark.parametrize("said", [bytes(ROOM), bytes(ROOM + 1)])
def test_what_does_not_fit_into_a_row_is_left_out(said):
    gate = Gate(np.zeros(Gate.nbytes(1), np.uint8), 0, 1)
    gate.arrive(Word(3, 1, said))
    assert gate.words() == [Word(3, 1, said if len(said) <= ROOM else None)]


@pytest.mark.parametrize("way", ["make", "attach"])
def test_where_no_memory_is_left_none_is_offered(way, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memory, way, full)
    with memory.offered("test", 4096) as found:
        assert found == (None, None)


def test_memory_of_another_process():
    """It is found by its process and file, and nothing else is taken for it."""
    mine, fd = memory.make("test", 4096)
    where = memory.Where.of(fd)
    try:
        theirs = memory.attach_of(where)
        mine[5] = 7
        assert theirs[5] == 7
        assert memory.attach_of(where._replace(pid=2**22 + 1)) is None
        assert memory.attach_of(where._replace(size=8192)) is None
    finally:
        os.close(fd)
    assert memory.attach_of(where) is None
    with open(os.devnull, "rb+") as other:
        assert memory.attach_of(memory.Where.of(other.fileno())) is None


def test_memory_of_the_same_size_under_the_same_numbers_is_not_taken_for_it():
    """As where a process of another container has the number of the process that offers it."""
    mine, fd = memory.make("test", 4096)
    offered = memory.Where.of(fd)
    os.close(fd)
    _other, again = memory.make("test", 4096)
    try:
        assert again == fd
        assert memory.attach_of(offered) is None
    finally:
        os.close(again)
    assert len(mine) == 4096  # exists as long as it is mapped, so its file is not the other's
