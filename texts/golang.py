"""Log statements of Go sources: zap, capnslog and the logger interface of the Raft library."""

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_go
from tree_sitter import Language, Node, Parser

from texts.statements import HOLE, Statement, formatted, joined, merged, skeleton
from texts.syntax import descendants, field_of, text_of

_LEVELS = {
    **dict.fromkeys(("Debug", "Debugf", "Debugln"), "debug"),
    **dict.fromkeys(("Trace", "Tracef"), "trace"),
    **dict.fromkeys(("Info", "Infof", "Infoln", "Notice", "Noticef", "Print", "Printf", "Println"), "info"),
    **dict.fromkeys(("Warn", "Warnf", "Warning", "Warningf", "Warningln"), "warn"),
    **dict.fromkeys(("Error", "Errorf", "Errorln"), "error"),
    **dict.fromkeys(("Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "DPanic", "Panicln"), "fatal"),
}
_LOGGER = re.compile(r"(?:.*\.)?(?:lg|[a-zA-Z]*[lL]og|[a-zA-Z]*[lL]ogger)(?:\(\))?")
_FIELD = re.compile(r"zap\.(\w+)")
_DEEPEST = 20


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_go.language()))


def statements(source: bytes) -> list[Statement]:
    """All log statements of a file."""
    return list(merged(_statements(_parser().parse(source).root_node)))


def _statements(root: Node) -> Iterator[Statement]:
    for call in descendants(root, "call_expression"):
        called = call.child_by_field_name("function")
        if called is None or called.type != "selector_expression":
            continue
        name, of = field_of(called, "field"), field_of(called, "operand")
        arguments = _arguments(call)
        if name not in _LEVELS or not _LOGGER.fullmatch(of) or not arguments:
            continue
        structured = not name.endswith(("f", "ln")) and not of.endswith(("plog", "raftLogger", ".logger"))
        if name.endswith("f"):
            messages = [formatted(one) for one in _messages(arguments[0])]
        elif structured or len(arguments) == 1:
            messages = _messages(arguments[0])
        else:
            messages = [" ".join(_messages(one)[0] for one in arguments)]
        fields = tuple(_fields(arguments[1:])) if structured else None
        for message in messages:
            yield Statement(skeleton(message), _LEVELS[name], _place(call), fields)


def _arguments(call: Node) -> list[Node]:
    found = call.child_by_field_name("arguments")
    return [] if found is None else [one for one in found.named_children if one.type != "comment"]


def _fields(arguments: list[Node]) -> Iterator[str]:
    """``key:Type`` of each field of zap that stands in the call itself."""
    for one in arguments:
        found = _FIELD.fullmatch(field_of(one, "function")) if one.type == "call_expression" else None
        if found is None:
            continue
        of = _arguments(one)
        if found.group(1) == "Error":
            yield "error:Error"
        elif of:
            yield f"{_messages(of[0])[0].replace(HOLE, '*')}:{found.group(1)}"


def _messages(node: Node, depth: int = 0) -> list[str]:
    """The messages that an expression can be, with holes."""
    if depth > _DEEPEST:
        return [HOLE]
    match node.type:
        case "interpreted_string_literal":
            return [_unescaped(text_of(node)[1:-1])]
        case "raw_string_literal":
            return [text_of(node)[1:-1]]
        case "parenthesized_expression":
            return _messages(node.named_children[0], depth + 1)
        case "binary_expression" if field_of(node, "operator") == "+":
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            return joined(_messages(one, depth + 1) for one in sides if one is not None)
        case "identifier":
            return _named(node, depth)
        case "call_expression" if field_of(node, "function") == "fmt.Sprintf" and _arguments(node):
            return [formatted(one) for one in _messages(_arguments(node)[0], depth + 1)]
    return [HOLE]


def _named(node: Node, depth: int) -> list[str]:
    """The text behind a name: a variable of the function, or a constant of the file."""
    name = text_of(node)
    at = node.parent
    while at is not None and at.type not in {"function_declaration", "method_declaration"}:
        at = at.parent
    for scope in (at, _root(node)):
        found = [] if scope is None else [text for one in _set(scope, name) for text in _messages(one, depth + 5)]
        if found:
            return list(dict.fromkeys(found))[:6]
    return [HOLE]


def _set(scope: Node, name: str) -> Iterator[Node]:
    """What a variable or constant is set to."""
    for kind in ("short_var_declaration", "assignment_statement"):
        for one in descendants(scope, kind):
            left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if left is not None and right is not None and text_of(left) == name and right.named_children:
                yield right.named_children[0]
    for kind in ("const_spec", "var_spec"):
        for one in descendants(scope, kind):
            value = one.child_by_field_name("value")
            if field_of(one, "name") == name and value is not None and value.named_children:
                yield value.named_children[0]


def _root(node: Node) -> Node:
    at = node
    while at.parent is not None:
        at = at.parent
    return at


def _place(node: Node) -> str:
    """The type whose method it is; empty in a function."""
    at = node.parent
    while at is not None and at.type != "method_declaration":
        at = at.parent
    receiver = [] if at is None else re.sub(r"[()*]", " ", field_of(at, "receiver")).split()
    return receiver[-1] if receiver else ""


def _unescaped(text: str) -> str:
    known = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: known.get(found.group(1), found.group(1)), text)
