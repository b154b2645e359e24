"""What the task of a site returns, and what the client is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.log import Log
from dgsuite.core.workers import plugin as worker

Outputs = list[dict[str, NDArray]]
"""What the task returns: outputs of each kernel of the run, by name."""


class Ended(NamedTuple):
    """What the client is told when the task has ended.

    Attributes
    ----------
    logs
        One of each kernel.
    shapes
        Of each kernel, dtype and shape of each output.
    nbytes
        Of all outputs.
    outputs
        None if they take so many bytes that they stay on the worker until they are gathered.
    """

    logs: list[Log]
    shapes: list[dict[str, tuple[np.dtype, tuple[int, ...]]]]
    nbytes: int
    outputs: Outputs | None


def ended(found: Sequence[tuple[dict[str, NDArray], Log]], most: float) -> Outputs:
    """Called by the task of a site: tell the client what it found, and return the outputs.

    Parameters
    ----------
    most
        Bytes of outputs that the client is told at once, at most.
    """
    outputs = [each for each, _ in found]
    shapes = [{name: (a.dtype, a.shape) for name, a in each.items()} for each in outputs]
    nbytes = sum(array.nbytes for each in outputs for array in each.values())
    told = Ended([log for _, log in found], shapes, nbytes, outputs if nbytes <= most else None)
    worker.plugin().tell(worker.task_key(), nbytes, told)
    return outputs
