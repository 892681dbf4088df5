"""Log statements of Java sources: slf4j, log4j and their likes."""

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_java
from tree_sitter import Language, Node, Parser

from texts.statements import HOLE, MOST_VARIANTS, Statement, braced, formatted, joined, merged, skeleton
from texts.syntax import descendants, field_of, text_of

_LEVELS = {"trace": "trace", "debug": "debug", "info": "info", "warn": "warn", "error": "error", "fatal": "error"}
_LOGGER = re.compile(r"(?:.*[._])?(?:LOG|LOGGER|log|logger|\w+(?:Log|Logger|_LOG|_LOGGER))(?:\(\))?")
_THROWABLE = re.compile(r"(?:\w+\.)*\w*(?:Exception|Error|Throwable)")
_BODIES = {"method_declaration", "constructor_declaration", "static_initializer", "lambda_expression"}
_CLASSES = {"class_declaration", "enum_declaration", "interface_declaration", "record_declaration"}
_ESCAPE = re.compile(r"\\(u+[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " "}
_DEEPEST = 30


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_java.language()))


def statements(source: bytes) -> list[Statement]:
    """All log statements of a file."""
    return list(merged(_statements(_parser().parse(source).root_node)))


def _statements(root: Node) -> Iterator[Statement]:
    for call in descendants(root, "method_invocation"):
        name, logger = field_of(call, "name"), call.child_by_field_name("object")
        if name not in _LEVELS or logger is None or not _LOGGER.fullmatch(text_of(logger).replace("this.", "")):
            continue
        arguments = _arguments(call)
        if not arguments:
            continue
        values = [one for one in arguments[1:] if not _is_throwable(one)]
        if len(values) == 1 and values[0].type == "array_creation_expression":
            count = len(next(iter(descendants(values[0], "array_initializer")), values[0]).named_children)
        else:
            count = len(values)
        messages = _messages(arguments[0])
        if messages == ["{}"] and count == 1 and values[0].type == "identifier":
            messages = [one.replace(HOLE, "{}") for one in _named(values[0], 0)]
            count = max(one.count("{}") for one in messages)
        for message in messages:
            text = skeleton(braced(message, count) if count else message)
            yield Statement(text, _LEVELS[name], _place(call))


def _arguments(call: Node) -> list[Node]:
    found = call.child_by_field_name("arguments")
    return [] if found is None else [one for one in found.named_children if "comment" not in one.type]


def _messages(node: Node, depth: int = 0) -> list[str]:
    """The messages that an expression can be, with holes."""
    if depth > _DEEPEST:
        return [HOLE]
    match node.type:
        case "string_literal":
            return [_literal(text_of(node))]
        case "character_literal":
            return [_unescaped(text_of(node)[1:-1])]
        case "decimal_integer_literal":
            return [text_of(node)]
        case "parenthesized_expression":
            return _messages(node.named_children[0], depth + 1)
        case "binary_expression" if field_of(node, "operator") == "+" and _has_text(node):
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            return joined(_messages(one, depth + 1) for one in sides if one is not None)
        case "ternary_expression":
            ways = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
            return [text for one in ways if one is not None for text in _messages(one, depth + 1)]
        case "identifier":
            return _named(node, depth)
        case "method_invocation":
            return _called(node, depth)
    return [HOLE]


def _has_text(node: Node) -> bool:
    """Whether an expression is a text and no sum: a literal is in it, or a name that is declared a ``String``."""
    if node.type == "binary_expression":
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        return any(one is not None and _has_text(one) for one in sides)
    if node.type in {"parenthesized_expression", "ternary_expression"}:
        return any(map(_has_text, node.named_children))
    if node.type == "identifier":
        return re.search(rf"\bString\s+{re.escape(text_of(node))}\b", text_of(_root(node))) is not None
    return node.type == "string_literal"


def _letters(message: str) -> bool:
    return any(one.isalpha() and one != HOLE for one in message)


def _called(node: Node, depth: int) -> list[str]:
    """``String.format``, ``"...".concat`` and a ``StringBuilder`` in one expression."""
    name, arguments = field_of(node, "name"), _arguments(node)
    of = node.child_by_field_name("object")
    if name == "format" and field_of(node, "object") in {"String", "MessageFormat"} and arguments:
        if field_of(node, "object") == "MessageFormat":
            return [re.sub(r"\{\d+[^}]*\}", HOLE, one).replace("''", "'") for one in _messages(arguments[0], depth + 1)]
        return [formatted(one) for one in _messages(arguments[0], depth + 1)]
    if name == "toString" and of is not None and of.type in {"method_invocation", "identifier"}:
        return _built(of, depth)
    return [HOLE]


def _built(node: Node, depth: int) -> list[str]:
    """What a chain of ``append`` on a new ``StringBuilder`` makes."""
    if depth > _DEEPEST:
        return [HOLE]
    if node.type == "object_creation_expression" and "StringBu" in field_of(node, "type"):
        arguments = _arguments(node)
        return _messages(arguments[0], depth + 1) if arguments else [""]
    of = node.child_by_field_name("object")
    if node.type == "method_invocation" and field_of(node, "name") == "append" and of is not None:
        return joined((_built(of, depth + 1), _messages(_arguments(node)[0], depth + 1)))
    if node.type == "identifier":
        body = _enclosing(node, _BODIES)
        begun = [] if body is None else [one for one in _declared(body, text_of(node)) if "StringBu" in text_of(one)]
        if len(begun) == 1 and body is not None:
            appended = [
                one
                for one in descendants(body, "expression_statement")
                if text_of(one).startswith(f"{text_of(node)}.append") and one.start_byte < node.start_byte
            ]
            return joined([_built(begun[0], depth + 1), *(_appended(one.named_children[0], depth) for one in appended)])
    return [HOLE]


def _appended(node: Node, depth: int) -> list[str]:
    """What one statement of chained ``append`` adds."""
    of = node.child_by_field_name("object")
    if depth > _DEEPEST or node.type != "method_invocation" or of is None or not _arguments(node):
        return [""]
    return joined((_appended(of, depth + 1), _messages(_arguments(node)[0], depth + 1)))


def _named(node: Node, depth: int) -> list[str]:
    """The text behind a name: a variable of the method, or a constant of the class."""
    name = text_of(node)
    body = _enclosing(node, _BODIES - {"lambda_expression"})
    if body is not None:
        found = [text for value in _declared(body, name) for text in _messages(value, depth + 5)]
        found = [text for text in found if _letters(text)]  # a number changes
        if found:
            return list(dict.fromkeys(found))[:MOST_VARIANTS]
        if any(field_of(one, "name") == name for one in descendants(body, "formal_parameter")):
            return [HOLE]
    for one in descendants(_root(node), "field_declaration"):
        if "final" in text_of(one).partition("=")[0]:
            for declared in descendants(one, "variable_declarator"):
                value = declared.child_by_field_name("value")
                if field_of(declared, "name") == name and value is not None:
                    return _messages(value, depth + 5)
    return [HOLE]


def _declared(body: Node, name: str) -> list[Node]:
    """What a variable is made and set to in a method."""
    values = []
    for kind, left, right in (("variable_declarator", "name", "value"), ("assignment_expression", "left", "right")):
        for one in descendants(body, kind):
            value = one.child_by_field_name(right)
            if field_of(one, left) == name and value is not None and value.type != "null_literal":
                values.append(value)
    return values


def _is_throwable(node: Node) -> bool:
    """Whether an argument is an exception, which is printed behind the message and fills no place in it."""
    if node.type == "object_creation_expression":
        return bool(_THROWABLE.fullmatch(field_of(node, "type")))
    if node.type == "method_invocation":
        return field_of(node, "name") == "getCause" and not _arguments(node)
    if node.type != "identifier":
        return False
    name, at = text_of(node), node.parent
    while at is not None:
        if at.type == "catch_clause":
            found = next(iter(descendants(at, "catch_formal_parameter")), None)
            if found is not None and text_of(found).split()[-1] == name:
                return True
        if at.type in _BODIES:
            typed = [*descendants(at, "formal_parameter"), *descendants(at, "local_variable_declaration")]
            if any(_names(one, name) and _THROWABLE.fullmatch(field_of(one, "type")) for one in typed):
                return True
            if at.type == "lambda_expression" and re.search(rf"\b{name}\b", field_of(at, "parameters")):
                return name in {"e", "ex", "t", "throwable", "exception", "err"}
        at = at.parent
    return False


def _names(declaration: Node, name: str) -> bool:
    if field_of(declaration, "name") == name:
        return True
    return any(field_of(one, "name") == name for one in descendants(declaration, "variable_declarator"))


def _enclosing(node: Node, kinds: set[str]) -> Node | None:
    at: Node | None = node.parent
    while at is not None and at.type not in kinds:
        at = at.parent
    return at


def _root(node: Node) -> Node:
    at = node
    while at.parent is not None:
        at = at.parent
    return at


def _place(node: Node) -> str:
    """``Outer.Inner``."""
    names: list[str] = []
    at = node.parent
    while at is not None:
        if at.type in _CLASSES:
            names.insert(0, field_of(at, "name"))
        at = at.parent
    return ".".join(names)


def _literal(printed: str) -> str:
    return _unescaped(printed[1:-1])


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] == "u":
            return chr(int(code.lstrip("u"), 16))
        return chr(int(code, 8)) if code[0].isdigit() else _ESCAPED.get(code, code)

    return _ESCAPE.sub(one, text)
