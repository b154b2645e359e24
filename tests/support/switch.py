"""A network switch in software that forwards each frame after a delay: for kernels that have no netem.

    python tests/support/switch.py SECONDS NAMESPACE ...

Each network namespace gets a TAP device ``eth0``. It prints "ready" when all are there, and ends with its
standard input.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import select
import struct
import sys
import time

SET_INTERFACE = 0x400454CA
TAP_WITHOUT_HEADER = 0x0002 | 0x1000
FRAME = 65536
AT_ONCE = 64
"""Frames that are read from a port before others are looked at."""


def tap(space):
    """File descriptor of a new TAP device ``eth0`` in a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{space}") as there, open("/proc/self/ns/net") as here:
        if libc.setns(there.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {space}")
        try:
            port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(port, SET_INTERFACE, struct.pack("16sH22x", b"eth0", TAP_WITHOUT_HEADER))
        finally:
            libc.setns(here.fileno(), 0)
    return port


def frames(port):
    """Frames that have arrived at a port."""
    for _ in range(AT_ONCE):
        try:
            yield os.read(port, FRAME)
        except BlockingIOError:
            return


def forward(ports, delay):
    """Forward frames between ports until the standard input ends."""
    places: dict[bytes, int] = {}
    waiting: list[tuple[float, int, int, bytes]] = []
    number = 0
    end = sys.stdin.fileno()
    while True:
        left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([*ports, end], [], [], left)
        if end in ready:
            return
        now = time.monotonic()
        for port in ready:
            for frame in frames(port):
                places[frame[6:12]] = port
                one = places.get(frame[:6])
                for target in ports if one is None else [one]:
                    if target != port:
                        number += 1
                        heapq.heappush(waiting, (now + delay, number, target, frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, target, frame = heapq.heappop(waiting)
            try:
                os.write(target, frame)
            except (BlockingIOError, OSError):
                continue  # a device that is full or down drops frames, as a switch does


def main(delay, *spaces):
    ports = [tap(space) for space in spaces]
    print("ready", flush=True)
    forward(ports, float(delay))


if __name__ == "__main__":
    main(*sys.argv[1:])
