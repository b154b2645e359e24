"""Self-stabilising protocols as their authors give them, node by node, and all their executions."""

from itertools import chain, combinations, product

import networkx as nx

ANY, ONE = "any nodes move", "one node moves"
"""What daemons may do."""

OUT, IN, WAITS = range(3)


def stable_mis(net, at, v):
    """Turau's four rules."""
    near_in = any(at[u] == IN for u in net[v])
    if at[v] == OUT:
        return None if near_in else WAITS
    if near_in:
        return OUT
    if at[v] == WAITS and not any(at[u] == WAITS and u < v for u in net[v]):
        return IN
    return None


def shukla(net, at, v):
    """Joins without a neighbour in the set, leaves with one. It knows no waiting: that is outside, too."""
    near_in = any(at[u] == IN for u in net[v])
    if near_in:
        return OUT if at[v] != OUT else None
    return IN if at[v] != IN else None


def stable_colouring(net, at, v):
    free = next(k for k in range(len(net)) if all(at[u] != k for u in net[v]))
    return free if at[v] != free else None


def stable_bfs(net, at, v):
    """State: level and parent; the root is node 0, and level -1 is that of nodes without one."""
    levels = {u: len(net) if at[u][0] < 0 else at[u][0] for u in net[v]}
    least = min(levels.values(), default=len(net))
    if v == 0:
        right = 0, -1
    elif least + 1 >= len(net):
        right = -1, -1
    else:
        right = least + 1, min(u for u in levels if levels[u] == least)
    return right if at[v] != right else None


def stable_matching(net, at, v):
    """State: pointer, and whether it says that it is married; Manne's rules."""
    pointer, says = at[v]
    married = pointer >= 0 and at[pointer][0] == v
    if says != married:
        return pointer, int(married)
    suitors = [u for u in net[v] if at[u][0] == v]
    if pointer < 0 and suitors:
        return max(suitors), says
    free = [u for u in net[v] if at[u] == (-1, 0) and u > v]
    if pointer < 0 and free:
        return max(free), says
    if pointer >= 0 and at[pointer][0] != v and (at[pointer][1] or pointer <= v):
        return -1, says
    return None


def hsu_huang(net, at, v):
    """State: pointer, and a flag that does not count."""
    pointer, flag = at[v]
    after = sorted(net[v], key=lambda u: (u < v, u))
    for wanted in (v, -1):
        for u in after:
            if pointer == -1 and at[u][0] == wanted:
                return u, flag
    if pointer >= 0 and at[pointer][0] not in (v, -1):
        return -1, flag
    return None


def states_of(kernel, net, v):
    """All that a node may have."""
    n = len(net)
    pointers = [-1, *net[v]]
    return {
        "stable_mis": range(3),
        "stable_colouring": range(n),
        "stable_bfs": [*product(range(-1, n), pointers)],
        "stable_matching": [*product(pointers, range(2))],
    }[kernel]


def every_state(kernel, net):
    return product(*(states_of(kernel, net, v) for v in net))


def moves_of(protocol, net, at):
    """What the enabled nodes become."""
    found = {v: protocol(net, at, v) for v in net}
    return {v: new for v, new in found.items() if new is not None}


def after(at, moves, nodes):
    return tuple(moves[v] if v in nodes else at[v] for v in range(len(at)))


def choices(enabled, daemon):
    sizes = range(1, 2 if daemon == ONE else len(enabled) + 1)
    return chain.from_iterable(combinations(enabled, size) for size in sizes)


def worst(protocol, states, net, daemon):
    """The most moves from any of some states that a daemon can make until none is enabled; None if it never
    need come to that.
    """
    most = {}

    def longest(at):
        if at in most:
            return most[at]
        most[at] = None  # while it is looked at: a circle
        moves, best = moves_of(protocol, net, at), 0
        for nodes in choices([*moves], daemon):
            rest = longest(after(at, moves, nodes))
            if rest is None:
                return None
            best = max(best, len(nodes) + rest)
        most[at] = best
        return best

    found = [longest(at) for at in states]
    return None if None in found else max(found)


def connected(n):
    """All connected graphs of n nodes with names."""
    pairs = [*combinations(range(n), 2)]
    for edges in chain.from_iterable(combinations(pairs, k) for k in range(len(pairs) + 1)):
        net = nx.empty_graph(n)
        net.add_edges_from(edges)
        if nx.is_connected(net):
            yield net
