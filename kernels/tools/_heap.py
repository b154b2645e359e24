"""Compiled loops on a binary heap."""

from dgsuite.base.compiling import compiled


@compiled
def push(heap, size, cost, tie, edge):
    """Put an entry on a binary heap of (cost, tie, edge) columns."""
    costs, ties, edges = heap
    at = size
    while at > 0:
        up = (at - 1) // 2
        if costs[up] < cost or (costs[up] == cost and ties[up] <= tie):
            break
        costs[at], ties[at], edges[at] = costs[up], ties[up], edges[up]
        at = up
    costs[at], ties[at], edges[at] = cost, tie, edge


@compiled
def pop(heap, size):
    """Take the least entry off a heap of `size` entries; it is then in the first free place."""
    costs, ties, edges = heap
    first = costs[0], ties[0], edges[0]
    last = size - 1
    cost, tie, edge = costs[last], ties[last], edges[last]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= last:
            break
        other = down + 1
        if other < last and (
            costs[other] < costs[down] or (costs[other] == costs[down] and ties[other] < ties[down])
        ):
            down = other
        if cost < costs[down] or (cost == costs[down] and tie <= ties[down]):
            break
        costs[at], ties[at], edges[at] = costs[down], ties[down], edges[down]
        at = down
    costs[at], ties[at], edges[at] = cost, tie, edge
    costs[last], ties[last], edges[last] = first
