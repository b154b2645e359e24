"""Statistics of code: how long kernels are, and the tasks, joins, barriers and locks in their text.

The static columns of Figure 7 of IMSuite (Gupta and Nandivada 2015), read from our programs: their
lines, and where the original would write ``async``, ``finish``, ``Clock.advanceAll`` and ``atomic`` for
what our text says. A phase is a join of tasks, one a node, or in the clocked style a barrier; a task
that spawns has the joins of its accounting; whatever is sent or spawned under a lock has one.

Command line: ``dgsuite statics`` prints the table; ``--csv FILE`` writes it.
"""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
from collections import Counter
from typing import NamedTuple

from dgsuite.core.accounting.rules import IMSUITE, Accounting, rules_of
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.kernels.bsp import Kernel

SENDS = {"unicast", "broadcast", "announce", "ship", "spawn"}
STEPS = {"Round", "Finish", "until_quiet"}

BLANK = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}
"""Names of the tokens that make no line one of code."""


class Statics(NamedTuple):
    """One kernel in one form and style."""

    kernel: str
    form: str
    style: str
    lines: int
    """Of code: neither blank, nor comment, nor docstring; of a recursive form, what it adds. Bases of the
    class count where they are IMSuite's alone."""
    asyncs: int
    finishes: int
    barriers: int
    mutexes: int


def statics(kernel: type[Kernel], style: str = "finish_async") -> Statics:
    """Statistics of a kernel's code.

    Parameters
    ----------
    style
        "finish_async" or "clocked", in which barriers take the place of joins.

    Examples
    --------
    >>> from dgsuite.kernels import LCR
    >>> statics(LCR)[4:]
    (2, 2, 0, 0)
    """
    lines = sum(map(_lines, _files(kernel)))
    sums = {name: sum(found.values()) for name, found in parts(kernel, style).items()}
    return Statics(kernel.name, kernel.form, style, lines, **sums)


def parts(kernel: type[Kernel], style: str) -> dict[str, dict[str, int]]:
    """Tasks, joins, barriers and locks in a kernel's text: of each how many a method has, by its name."""
    faithful = kernel(faithful=True)
    law = rules_of(faithful) or Accounting()
    spawning = {**law.spawning, **(law.clocked_spawning if style == "clocked" else {})}
    text = Text(type(faithful))
    steps = text.steps()
    flat = dict.fromkeys(p for step in steps for p in step if p not in spawning)
    launches = {phase: law.launches.get(phase, 1) for phase in flat}
    launches |= {p: law.launches.get(p, 0) for p in spawning}
    joined = dict(launches)
    if style == "clocked" and law.clocked is not None:
        joined = {p: law.clocked.get(p, int(p in flat)) for p in launches}
    elif style == "clocked":
        joined = {}
        for step in steps:
            launched = [p for p in step if launches[p] and p not in joined]
            joined |= {p: int(i == 0) for i, p in enumerate(launched)}
    finishes, asyncs = Counter(joined), Counter(joined)
    barriers = Counter({p: launches[p] - joined.get(p, 0) for p in launches})
    mutexes = Counter(
        {p: law.mutex.get(p, 1) for p in flat if text.calling(SENDS).intersection(text.reach(p))}
    )
    # methods that count locks of the original themselves
    locking = text.calling({"extra"}, arguments=2)
    mutexes.update(p for p in flat if locking.intersection(text.reach(p)))
    for site in text.calling({"spawn"}):
        rule = max((spawning[t] for t in spawning if site in text.reach(t)), default=None)
        if rule is not None:
            asyncs[site] += rule.asyncs
            finishes[site] += rule.finishes + rule.filled + rule.joins
            barriers[site] += rule.barriers
            mutexes[site] += rule.mutex + rule.open_mutex
    found = {"asyncs": asyncs, "finishes": finishes, "barriers": barriers, "mutexes": mutexes}
    return {name: {p: n for p, n in of.items() if n} for name, of in found.items()}


def table() -> list[Statics]:
    """All kernels that IMSuite has, in all forms and styles."""
    kernels = [*(KERNELS[name] for name in IMSUITE), *RECURSIVE.values()]
    return [statics(k, style) for k in kernels for style in ("finish_async", "clocked")]


def _files(kernel: type[Kernel]) -> set[str]:
    """The files of a kernel and its bases; of a recursive form, without those of the iterative one."""
    files = {
        inspect.getfile(c)
        for c in kernel.__mro__
        if c.__module__.startswith("dgsuite.kernels.imsuite")
    }
    return files if kernel.form == "iterative" else files - _files(KERNELS[kernel.name])


def _lines(path: str) -> int:
    """Lines of code of a file."""
    with tokenize.open(path) as file:
        source = file.read()
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if tokenize.tok_name[token.type] not in BLANK
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            code -= set(range(node.lineno, node.end_lineno + 1))  # type: ignore[operator]
    return len(code)


class Text:
    """What the methods of a kernel say, those that they extend by ``super()`` included."""

    def __init__(self, kernel: type[Kernel]) -> None:
        self.trees = {
            name: _definitions(kernel, name)
            for name, method in inspect.getmembers(kernel, inspect.isfunction)
            if not name.startswith("__") and method.__module__.startswith("dgsuite.kernels.")
        }
        self.calls = {
            name: [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call)]
            for name, trees in self.trees.items()
        }

    def steps(self) -> list[list[str]]:
        """Phases of each round, and launch of each finish, in the program."""
        found = []
        for method in self.reach("program"):
            lists = {
                n.targets[0].id: n.value
                for tree in self.trees[method]
                for n in ast.walk(tree)
                if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
            }
            for call in self.calls[method]:
                # or handed to a method that repeats it
                if _called(call) in STEPS or _own(call.func):
                    given = [a.value if isinstance(a, ast.Starred) else a for a in call.args]
                    given = [lists.get(getattr(g, "id", ""), g) for g in given]
                    named = [_own(n) for g in given for n in ast.walk(g)]
                    found.append([n for n in named if n in self.trees])
        return [step for step in found if step]

    def calling(self, functions: set[str], arguments: int = 0) -> set[str]:
        """Methods that call one of some functions, with so many arguments at least."""
        return {
            method
            for method, calls in self.calls.items()
            if any(_called(c) in functions and len(c.args) >= arguments for c in calls)
        }

    def reach(self, name: str) -> dict[str, None]:
        """A method and all that it calls, at any depth."""
        found: dict[str, None] = {}
        left = [name]
        while left:
            method = left.pop()
            if method in self.calls and method not in found:
                found[method] = None
                left += [_own(call.func) for call in self.calls[method]]
        return found


def _definitions(kernel: type[Kernel], name: str) -> list[ast.AST]:
    """The method of a kernel, and those of its bases that it calls by ``super()``."""
    found: list[ast.AST] = []
    for cls in kernel.__mro__:
        if name in vars(cls):
            text = textwrap.dedent(inspect.getsource(vars(cls)[name]))
            found.append(ast.parse(text))
            if f"super().{name}(" not in text:
                break
    return found


def _called(call: ast.Call) -> str:
    """The name of a function that is called, as itself or as ``bsp.name``."""
    function = call.func
    if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "bsp":
        return function.attr
    return getattr(function, "id", "")


def _own(node: ast.AST) -> str:
    """The name of an attribute of the kernel, if it is one."""
    mine = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
    return node.attr if mine else ""  # type: ignore[attr-defined]
