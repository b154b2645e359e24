"""Streams of messages, from a client to its scheduler and from there to workers: the only use of their
internals.

Relies on `distributed.batched.BatchedSend`, in versions from 2026.1 to 2026.8 of distributed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client
    from distributed.batched import BatchedSend


MARK = "dgsuite-mark"
"""A client's message to the scheduler, with a number. All that the client has sent before is there then."""


def hurry(stream: BatchedSend | None) -> None:
    """Have a stream send what it has, such as tasks, without waiting for more; to be called on its loop.

    It sends one message in some time: a client's in 10 ms, a scheduler's to a worker in 5 ms. After another
    one, such as that results are no longer needed, tasks wait.
    """
    if stream is not None:
        stream.next_deadline = None
        stream.waker.set()


def send_now(client: Client) -> None:
    """Have a client send at once what it has for the scheduler. Thread-safe."""
    client.loop.add_callback(lambda: hurry(client.scheduler_comm))
