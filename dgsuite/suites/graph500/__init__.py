"""Graph500: a Kronecker graph, searches from random roots, every tree validated.

The rules are those of the specification (graph500.org, version 2.0): kernel 1 builds the graph from a
list of edge tuples; kernel 2 is a breadth-first search and kernel 3 one for shortest paths, timed; TEPS
are the tuples in the searched component, self-loops and repetitions included, over the time.
"""
