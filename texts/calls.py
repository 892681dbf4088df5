"""Log statements of C (Redis, Valkey) and Scala (Kafka) sources: calls whose arguments are literals with values.

No grammar is needed for them: a statement is a call by a known name, and its message is what the literals of one
argument say.
"""

import re
from collections.abc import Iterator, Sequence

from texts.statements import HOLE, Statement, formatted, joined, merged, skeleton

_IN_BRACES = r"\$\{(?:[^{}]|\{[^{}]*\})*\}"
_TEXT = rf'"""(?:.*?)"""(?!")|"(?:{_IN_BRACES}|\\.|[^"\\\n])*"'
_OPAQUE = re.compile(rf"{_TEXT}|'(?:\\.[^']*|[^'\\])'|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(_TEXT, re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_OPENS, _CLOSES = "([{", ")]}"


def without_comments(source: str) -> str:
    """The source with a blank in place of each comment."""
    return _OPAQUE.sub(lambda found: " " if found.group().startswith(("//", "/*")) else found.group(), source)


def arguments(source: str, start: int) -> list[str]:
    """The arguments of a call whose opening bracket stands before ``start``."""
    found, depth, begin, at = [], 0, start, start
    while at < len(source):
        opaque = _OPAQUE.match(source, at)
        if opaque is not None:
            at = opaque.end()
            continue
        char = source[at]
        if char in _CLOSES and depth == 0:
            return [one.strip() for one in (*found, source[begin:at]) if one.strip()]
        depth += (char in _OPENS) - (char in _CLOSES)
        if char == "," and depth == 0:
            found.append(source[begin:at])
            begin = at + 1
        at += 1
    return []


def split(text: str, marks: str) -> list[str]:
    """The parts of an expression between marks that stand in no brackets and no literals."""
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        opaque = _OPAQUE.match(text, at)
        if opaque is not None:
            at = opaque.end()
            continue
        depth += (text[at] in _OPENS) - (text[at] in _CLOSES)
        if depth == 0 and text[at] in marks:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return [*parts, text[begin:]]


def unescaped(text: str) -> str:
    """A literal's text."""
    return _ESCAPE.sub(
        lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1 else _ESCAPED.get(found[1], found[1]), text
    )


# -- C -----------------------------------------------------------------------------------------------------------------

_LEVELS_OF_C = {"LL_DEBUG": "debug", "LL_VERBOSE": "debug", "LL_NOTICE": "info", "LL_WARNING": "warn"}
_CALL_OF_C = re.compile(r"\b(serverLog|serverLogRaw|sentinelEvent|serverPanic)\s*\(")


def of_c(source: bytes) -> list[Statement]:
    """All log statements of a file of Redis or Valkey; an event of a sentinel is its type, and what it tells."""
    return list(merged(_of_c(without_comments(source.decode("utf-8", "replace")))))


def _of_c(source: str) -> Iterator[Statement]:
    for call in _CALL_OF_C.finditer(source):
        given = arguments(source, call.end())
        level = next((name for mark, name in _LEVELS_OF_C.items() if given and mark in given[0]), "warn")
        match call[1], given:
            case "serverPanic", [panics, *_]:
                messages = _messages_of_c(panics)
            case "sentinelEvent", [_, kind, _, tells, *_] if not kind.startswith("char "):
                messages = joined((_messages_of_c(kind), [" "], [_instance(one) for one in _messages_of_c(tells)]))
            case (("serverLog" | "serverLogRaw"), [_, text, *_]) if not text.startswith("const char"):
                messages = _messages_of_c(text)
            case _:
                continue
        for message in messages:
            yield Statement(skeleton(message), level, "")


def _instance(message: str) -> str:
    """``%@`` is the instance that an event is about."""
    return message.replace("%@", HOLE)


def _messages_of_c(argument: str) -> list[str]:
    chosen = split(argument, "?")
    if len(chosen) == 2:
        return [message for way in split(chosen[1], ":") for message in _messages_of_c(way)]
    printed, end = "", 0
    for literal in _STRING.finditer(argument):
        printed += _between(printed, argument[end : literal.start()]) + unescaped(literal.group()[1:-1])
        end = literal.end()
    if not end:
        return [HOLE]
    return [_formatted_of_c(printed + _between(printed, argument[end:]))]


def _between(printed: str, code: str) -> str:
    """What stands between two literals: a macro of a format, such as ``PRIu64``, or of a text."""
    if not code.strip():
        return ""
    return "d" if re.search(r"%[-0-9.*]*$", printed) else HOLE


def _formatted_of_c(message: str) -> str:
    return formatted(
        re.sub(r"%([-+0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)(?:hh|h|ll|l|j|z|t|L)([a-zA-Z])", r"%\1\2", message)
    )


# -- Scala -------------------------------------------------------------------------------------------------------------

_CALL_OF_SCALA = re.compile(
    r"(?<![\w$])(?:[\w.]*[lL]ogger(?:\.underlying)?\.|log\.)?(debug|info|warn|error|fatal)\s*\("
)
_VALUE = re.compile(r"\$\$|\$\{|\$[A-Za-z_]\w*")


def of_scala(source: bytes) -> list[Statement]:
    """All log statements of a file of Kafka's; what it traces is left out."""
    return list(merged(_of_scala(without_comments(source.decode("utf-8", "replace")))))


def _of_scala(source: str) -> Iterator[Statement]:
    for call in _CALL_OF_SCALA.finditer(source):
        if source[: call.start()].rstrip().endswith("def"):
            continue
        given = arguments(source, call.end())
        for message in joined(map(_messages_of_scala, split(given[0], "+"))) if given else ():
            if message.strip(HOLE + " "):
                yield Statement(skeleton(message), {"fatal": "error"}.get(call[1], call[1]), "")


def _messages_of_scala(part: str) -> Sequence[str]:
    part = part.strip()
    literals = list(_STRING.finditer(part))
    plain = len(literals) == 1 and literals[0].end() == len(part) and literals[0].start() <= 1
    if not plain:
        return [HOLE]
    marks = 3 if literals[0].group().startswith('"""') else 1
    text = literals[0].group()[marks:-marks]
    if part[0] in "sf":
        text = _interpolated(text)
    return [unescaped(text)]


def _interpolated(text: str) -> str:
    printed, at = "", 0
    while found := _VALUE.search(text, at):
        printed += text[at : found.start()] + ("$" if found.group() == "$$" else HOLE)
        at = found.end()
        if found.group() == "${":
            at += _closing(text, at)
    return printed + text[at:]


def _closing(text: str, begin: int) -> int:
    """How many characters a value in braces has, with the brace that ends it."""
    depth, at = 1, begin
    while at < len(text) and depth:
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at - begin


PARSERS = {"c": of_c, "scala": of_scala}
"""By language."""
