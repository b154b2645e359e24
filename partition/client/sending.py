"""The stream of messages from a client to its scheduler, and the only use of its internals.

Relies on `distributed.batched.BatchedSend`, in versions from 2026.1 to 2026.8 of distributed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def send_now(client: Client) -> None:
    """Have the client send what it has for the scheduler, such as tasks, without waiting for more.

    It sends one message in 10 ms; after another one, such as that results are no longer needed, tasks wait.
    """

    def send() -> None:
        stream = client.scheduler_comm
        if stream is not None:
            stream.next_deadline = None
            stream.waker.set()

    client.loop.add_callback(send)
