"""GAP Benchmark Suite (Beamer, Asanovic and Patterson 2015): its kernels, graphs, sources and trials.

What is timed is a kernel on a graph that the workers hold, up to its outputs, which they hold as well.
"""
