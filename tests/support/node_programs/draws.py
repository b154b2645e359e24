"""Random numbers of nodes."""

import numpy as np

from dgsuite.kernels.tools.rng import uniform


def luck(kernel, node, draw):
    """A random number of a node."""
    return float(uniform("counter", kernel.seed, np.array([node.id]), draw)[0])


def neighbour(kernel, node, number):
    """A neighbour drawn for a round."""
    return node.neighbours[int(luck(kernel, node, number) * len(node.neighbours))]
