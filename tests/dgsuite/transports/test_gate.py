"""The barrier in shared memory."""

import os
import time

import numpy as np
import pytest

from dgsuite.core.exchange.gate import Gate, Word
from dgsuite.core.transports import memory

pytestmark = pytest.mark.skipif(not Gate.is_there(), reason="needs a futex, and x86-64")


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
