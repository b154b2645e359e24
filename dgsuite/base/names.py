"""Names that options take, for commands and files that import little."""

from typing import Literal, get_args

Style = Literal["serial", "finish_async", "clocked", "in_turn"]
"""How a kernel runs: see `dgsuite.run`."""

STYLES: tuple[str, ...] = get_args(Style)

Edges = Literal["memory", "disk"]
"""Where the edges of a graph are."""

Rule = Literal["sum", "min", "max", "first", "error"]
"""How repeated edges of a graph are merged."""

RULES: dict[str, str] = {
    "sum": "weights summed",
    "min": "smallest weight kept",
    "max": "largest weight kept",
    "first": "first weight kept",
    "error": "none allowed",
}
"""What each rule does."""
