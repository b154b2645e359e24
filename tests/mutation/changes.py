"""Small changes of the project's code, each of which a test should notice.

A change replaces one expression or statement. The text around it, and the lines before it, stay as they are.
"""

import ast
import copy
import random
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

AREAS = {
    "dgsuite/base": 3,
    "dgsuite/core/engine": 18,
    "dgsuite/core/exchange": 10,
    "dgsuite/core/executors": 8,
    "dgsuite/studies/network": 5,
    "dgsuite/core/recursion": 5,
    "dgsuite/core/results": 3,
    "dgsuite/core/running": 5,
    "dgsuite/core/transports": 7,
    "dgsuite/core/workers": 9,
    "genval": 8,
    "kernels/analytics": 8,
    "kernels/bsp": 5,
    "kernels/imsuite": 4,
    "kernels/lab": 2,
    "kernels/tools": 2,
    "partition": 6,
}
"""Folders that are changed, and their shares."""

KINDS = {
    "guards": 20,  # `with`, locks, `finally`, and what says how many threads there are
    "comparison": 16,
    "condition": 18,
    "number": 12,
    "arithmetic": 10,
    "statement": 14,
    "arguments": 6,
    "flow": 4,
}
"""Kinds of changes, and their shares in percent."""

GUARDS = re.compile(r"\b(_?lock|acquire|pool|threads|helpers|ThreadPoolExecutor)\b")
CLOCKS = re.compile(r"\b(deadline|monotonic|perf_counter|thread_time)\b")

OTHER = {
    getattr(ast, name): tuple(getattr(ast, other) for other in others)
    for name, *others in map(
        str.split,
        (
            *("Lt LtE GtE", "LtE Lt Gt", "Gt GtE LtE", "GtE Gt Lt", "Eq NotEq", "NotEq Eq"),
            *("Is IsNot", "IsNot Is", "In NotIn", "NotIn In", "Add Sub", "Sub Add", "Or And"),
            *("Mult FloorDiv", "FloorDiv Mult", "Div Mult", "Mod FloorDiv", "And Or"),
            *("LShift RShift", "RShift LShift", "BitAnd BitOr", "BitOr BitAnd"),
        ),
    )
}
"""What may stand in the place of an operator."""

OPPOSITES = {"min": "max", "any": "all", "minimum": "maximum", "argmin": "argmax", "left": "right"}
OPPOSITES |= {there: here for here, there in OPPOSITES.items()}


class Change(NamedTuple):
    """Replaces text[begin:end] of a file by other text."""

    path: str
    kind: str
    line: int
    begin: int
    end: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        return text[: self.begin] + self.after + text[self.end :]

    def __str__(self) -> str:
        before, after = (" ".join(part.split())[:70] for part in (self.before, self.after))
        return f"{self.path}:{self.line} {self.kind}: {before} -> {after}"


def with_field(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with other values in it."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def expressions(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Kind, what is replaced, and by what."""
    match node:
        case ast.Compare(ops=[op]):
            for other in OTHER[type(op)]:
                yield "comparison", node, with_field(node, ops=[other()])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OTHER:
            if not any(isinstance(n, ast.Constant) and type(n.value) is str for n in (left, right)):
                yield "arithmetic", node, with_field(node, op=OTHER[type(op)][0]())
        case ast.BoolOp(op=op, values=values):
            yield "condition", node, with_field(node, op=OTHER[type(op)][0]())
            for i in range(len(values)):
                rest = [*values[:i], *values[i + 1 :]]
                new = rest[0] if len(rest) == 1 else with_field(node, values=rest)
                yield "condition", node, new
        case ast.UnaryOp(op=ast.Not()):
            yield "condition", node, node.operand
        case ast.IfExp():
            yield "condition", node, node.body
            yield "condition", node, node.orelse
        case ast.Constant(value=bool()):
            yield "condition", node, ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield "number", node, ast.Constant(node.value + 1)
            yield "number", node, ast.Constant(node.value - 1)
        case ast.Constant(value=float()) if node.value:
            yield "number", node, ast.Constant(node.value * 2)
        case ast.Call(func=func, args=args):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", None)
            starred = any(isinstance(each, ast.Starred) for each in args[:2])
            if len(args) > 1 and not starred and name != "isinstance":
                yield "arguments", node, with_field(node, args=[args[1], args[0], *args[2:]])
            if name in OPPOSITES:
                field = "attr" if isinstance(func, ast.Attribute) else "id"
                yield "comparison", func, with_field(func, **{field: OPPOSITES[name]})
            if name == "ThreadPoolExecutor":
                yield "guards", node, with_field(node, args=[ast.Constant(1)], keywords=[])


def statements(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """The same of statements."""
    match node:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for i, item in enumerate(items):
                rest = [*items[:i], *items[i + 1 :]]
                body = node.body if not rest else [with_field(node, items=rest)]
                if item.optional_vars is not None:
                    later = isinstance(node, ast.AsyncWith)
                    enter = ast.Attribute(item.context_expr, "__aenter__" if later else "__enter__")
                    opened = ast.Call(enter, [], [])
                    opened = ast.Await(opened) if later else opened
                    body = [ast.Assign([item.optional_vars], opened, lineno=0), *body]
                yield "guards", node, ast.If(ast.Constant(True), body, [])
        case ast.Try(finalbody=[_, *_]):
            yield "guards", node, with_field(node, finalbody=[ast.Pass()])
        case ast.If(test=test):
            yield "condition", test, ast.Constant(True)
            yield "condition", test, ast.Constant(False)
        case ast.While(test=test) if not isinstance(test, ast.Constant):
            yield "condition", test, ast.Constant(False)
        case ast.Break():
            yield "flow", node, ast.Continue()
        case ast.Continue():
            yield "flow", node, ast.Break()
        case (
            ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Delete() | ast.Raise()
        ):
            yield "statement", node, ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", node, ast.Pass()
        case ast.FunctionDef(body=[*_, _, last]) | ast.AsyncFunctionDef(body=[*_, _, last]):
            if not isinstance(last, ast.Return | ast.Expr | ast.Raise):
                yield "flow", last, ast.Return(None)


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All that may be changed: no annotations, decorators, texts of errors, or notes in a log."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "exc", "cause"):
            continue
        for child in value if isinstance(value, list) else [value]:
            match child:
                case ast.JoinedStr() | ast.Expr(value=ast.Constant()):
                    continue
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="log")))):
                    continue
                case ast.AST():
                    yield child
                    yield from nodes(child)


def is_boundary(old: ast.AST, new: ast.AST) -> bool:
    """Whether a comparison changes for equal values alone."""
    pair = {type(old.ops[0]), type(new.ops[0])} if isinstance(old, ast.Compare) else set()
    return pair in ({ast.Lt, ast.LtE}, {ast.Gt, ast.GtE})


class Text:
    """The text of a file, and where its nodes are."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self._lines))]

    def place(self, row: int, column: int) -> int:
        return self._starts[row - 1] + len(self._lines[row - 1].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        begin = self.place(node.lineno, node.col_offset)
        return begin, self.place(node.end_lineno, node.end_col_offset)

    def sites(self) -> Iterator[tuple[str, ast.AST, ast.AST]]:
        """Kind of each change, what is replaced, and by what."""
        for node in nodes(ast.parse(self.text)):
            for kind, old, new in [*expressions(node), *statements(node)]:
                begin, end = self.span(old)
                head = self.text[begin:end]
                if isinstance(old, ast.stmt):
                    head = head.partition("\n")[0]
                if kind == "comparison" and CLOCKS.search(head) and is_boundary(old, new):
                    continue  # no test can see which of two equal times comes first
                if kind != "flow" and GUARDS.search(head):
                    kind = "guards"
                yield kind, old, new

    def change(self, kind: str, old: ast.AST, new: ast.AST) -> Change:
        begin, end = self.span(old)
        after = ast.unparse(ast.fix_missing_locations(new))
        if isinstance(old, ast.stmt):
            after = textwrap.indent(after, " " * old.col_offset).lstrip()
        elif not isinstance(new, ast.Constant | ast.Name | ast.Attribute):
            after = f"({after})"
        return Change(self.path, kind, old.lineno, begin, end, self.text[begin:end], after)


def compiles(change: Change, text: str) -> bool:
    try:
        compile(change.apply(text), change.path, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def drawn(root: Path, seed: int, within: Sequence[str] = ("",)) -> Iterator[Change]:
    """Changes in an order of chance: the first so many of them are a fair sample.

    Each is of an area within some folders and of a kind, which are drawn by their shares, and is drawn once.
    """
    areas = {area: share for area, share in AREAS.items() if area.startswith(tuple(within))}
    there: dict[tuple[str, str], list[tuple[Text, ast.AST, ast.AST]]] = defaultdict(list)
    for area in areas:
        for path in sorted((root / area).rglob("*.py")):
            text = Text(path.relative_to(root).as_posix(), path.read_text())
            for kind, old, new in text.sites():
                there[area, kind].append((text, old, new))
    dice = random.Random(seed)
    while any(there.values()):
        (area,) = dice.choices([*areas], [*areas.values()])
        (kind,) = dice.choices([*KINDS], [*KINDS.values()])
        if left := there[area, kind]:
            at = dice.randrange(len(left))
            left[at], left[-1] = left[-1], left[at]
            text, old, new = left.pop()
            change = text.change(kind, old, new)
            if compiles(change, text.text):
                yield change
