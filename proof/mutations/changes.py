"""Small changes of a Python file that ought to change what it does: each is one that a tired programmer makes.

Only what stands in functions is changed. What says nothing at run time stays as it is: annotations, docstrings,
decorators, and the texts of findings and errors.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
COUNTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*", ast.BitOr: "&", ast.BitAnd: "|"}
LEFT_OUT = ("annotation", "returns", "decorator_list", "bases", "type_params")
"""What is of no function's body; so are the defaults of arguments."""

CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A piece of a file, from one offset in characters to another, and what stands there instead."""

    file: str
    begin: int
    end: int
    line: int
    before: str
    after: str

    def applied(self, text: str) -> str:
        """The text of the file with the change."""
        return text[: self.begin] + self.after + text[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} `{self.before}` becomes `{self.after}`"


def changes(file: str, text: str) -> list[Change]:
    """All changes of a file, in the order of its text."""
    return sorted(set(Finder(file, text).found()))


def parses(text: str) -> bool:
    """Whether a text is a Python file."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class Finder:
    """Walks through a file and knows where its pieces stand."""

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text, self._lines = file, text, text.splitlines(keepends=True)
        self._starts, self._depth = [0], 0
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def found(self) -> Iterator[Change]:
        """All changes."""
        yield from self._below(ast.parse(self._text))

    def _below(self, node: ast.AST) -> Iterator[Change]:
        if self._depth:
            yield from self._of(node)
        inside = isinstance(node, ast.FunctionDef)
        self._depth += inside
        for name, value in ast.iter_fields(node):
            if name in LEFT_OUT or (inside and name == "args"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_docstring(child) and not isinstance(child, ast.JoinedStr):
                    yield from self._below(child)
        self._depth -= inside

    def _of(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from self._between(node.left, node.comparators[0], COMPARED[type(node.ops[0])])
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from self._between(left, right, word)
        elif isinstance(node, ast.BinOp) and type(node.op) in COUNTED and not is_type(node):
            yield from self._between(node.left, node.right, COUNTED[type(node.op)])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._piece(node, self._source(node.operand))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLED:
            yield self._piece(node.func, CALLED[node.func.id])
        else:
            yield from self._of_statement(node)

    def _of_statement(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            after = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield self._piece(node, after)
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield self._piece(node.test, f"not ({self._source(node.test)})")
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield self._piece(test, f"not ({self._source(test)})")
        elif isinstance(node, ast.Continue):
            yield self._piece(node, "break")
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield self._piece(node, "pass")

    def _between(self, left: ast.expr, right: ast.expr, word: str) -> Iterator[Change]:
        """The operator between two operands, if nothing else, no bracket say, stands there."""
        begin, end = self._at(left)[1], self._at(right)[0]
        found = self._text[begin:end]
        stripped = found.strip()
        if stripped and all(part.isalpha() or not (set(part) & set("()[]{}#")) for part in stripped.split()):
            inset = begin + found.index(stripped)
            yield self._change(inset, inset + len(stripped), word)

    def _piece(self, node: ast.AST, after: str) -> Change:
        return self._change(*self._at(node), after)

    def _change(self, begin: int, end: int, after: str) -> Change:
        line = self._text.count("\n", 0, begin) + 1
        return Change(self._file, begin, end, line, self._text[begin:end], after)

    def _source(self, node: ast.AST) -> str:
        begin, end = self._at(node)
        return self._text[begin:end]

    def _at(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends; columns of :mod:`ast` are bytes."""
        place = [getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
        return self._offset(place[0], place[1]), self._offset(place[2], place[3])

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def is_docstring(node: ast.AST) -> bool:
    """Whether a node is a text that stands by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_type(node: ast.BinOp) -> bool:
    """Whether ``X | Y`` may be the alias of a type: only names of classes stand in it."""
    sides = [node.left, node.right]
    return all(
        (isinstance(side, ast.Name) and side.id[:1].isupper() and not side.id.isupper())
        or isinstance(side, ast.Subscript)
        or (isinstance(side, ast.Constant) and side.value is None)
        or (isinstance(side, ast.BinOp) and is_type(side))
        for side in sides
    )
