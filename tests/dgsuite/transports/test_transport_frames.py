"""What comes over a transport of this host is checked before memory is taken for it or read."""

import asyncio
import fcntl
import os
import socket
import struct

import pytest
from distributed.comm import CommClosedError

from dgsuite.core.transports import memory
from dgsuite.core.transports.mpb import HELLO, LINE, MPB, VERSION
from tests.support.comms import joined

LARGE = 1 << 17


HEADERS = [
    pytest.param((0, 1), id="shorter than its header"),
    pytest.param((64, 1 << 60), id="more frames than bytes"),
    pytest.param((1 << 62, 1, (1 << 62) - 16), id="more than there is memory"),
    pytest.param((1 << 50, (1 << 47) - 1), id="a longer table than there is memory"),
    pytest.param((40, 2, 1 << 40, 1 << 40), id="small, with frames longer than the message"),
    pytest.param((40, 2, 3, 4), id="small, with frames shorter than the message"),
    pytest.param((LARGE, 2, 1 << 50, 1), id="large, with frames longer than the message"),
]


@pytest.mark.parametrize("numbers", HEADERS)
async def test_headers_that_cannot_be(kind, numbers):
    wrong = struct.pack(f"<{len(numbers)}Q", *numbers).ljust(48, b"\0")
    async with joined(kind) as (here, there):
        sending = asyncio.create_task(here._put([memoryview(wrong)]))
        with pytest.raises(CommClosedError, match=r"a message cannot have|frames of a message"):
            await there.read()
        assert there.closed()
        here.abort()
        await asyncio.gather(sending, return_exceptions=True)


def unsealed():
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 4096)
    return fd


def file_of_the_disk():
    fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    os.ftruncate(fd, 4096)
    return fd


def sealed_of_none():
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, memory.seals())
    return fd


REFUSED = [
    (unsealed, 4096, "gave memory that could shrink"),
    (file_of_the_disk, 4096, "gave memory that could shrink"),
    (sealed_of_none, 0, "the peer gave no memory"),
]


@pytest.mark.parametrize(("made", "size", "message"), REFUSED)
async def test_memory_that_is_refused(made, size, message):
    """The reader of memory that shrinks would be killed by the system in the middle of a message."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    comm = MPB(ours, "mpb://here", "mpb://there")
    fd = made()
    socket.send_fds(theirs, [HELLO.pack(VERSION, size)], [fd])
    os.close(fd)
    with pytest.raises(CommClosedError, match=message):
        await comm._open()
    comm.abort()
    theirs.close()


LINES = [
    pytest.param(LINE.pack(1 << 40, 0, 0), id="wrote more than the buffer has"),
    pytest.param(LINE.pack(0, 0, 1 << 40), id="read unwritten bytes"),
    pytest.param(b"short", id="no line"),
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("scheme", ["mpb", "mpimpb"])
async def test_lines_that_cannot_be(scheme, line, caplog):
    async with joined(scheme) as (here, there):
        reading = asyncio.create_task(there.read())
        await asyncio.sleep(0)
        here._sock.send(line)
        with pytest.raises(CommClosedError):
            await reading
    assert "an impossible position" in caplog.text
