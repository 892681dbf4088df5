"""Layouts: a logger's pattern string, such as ``%d{ISO8601} [%t] %-5p %c{1} - %m%n``, compiled into a reader of lines.

Operators change how log4j and logback write a line, but not what the line says. So a layout is the very string of the
configuration of log4j 1, log4j 2 or logback, and the dialect reads the message after it as usual.

Reading is safe for hostile lines: a field has at most :data:`FREE` characters, a layout at most :data:`MOST_FREE` free
fields, and every pattern is anchored at the begin of the line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from election_replay.election_core.dialects.json_layouts import PREFIX, JsonLayout, json_layout
from election_replay.election_core.dialects.parts import LEVELS, Line
from election_replay.election_core.dialects.stamps import BadLayout, Stamp, stamp

__all__ = ["AnyLayout", "BadLayout", "Layout", "Line", "any_layout", "layout"]

FREE = 160
"""The most characters of a thread's name, or of another field that may hold anything."""

MOST_FREE = 4
"""The most such fields before the message: more could be split in too many ways."""

LONGEST = 1_000
"""The most characters of a layout."""

_LEVEL = (
    "(?:"
    + "|".join(
        f"{name}|{name.lower()}|{name.title()}" for name in sorted(LEVELS, key=len, reverse=True) if len(name) > 1
    )
    + ")"
)
_ANY_LEVEL = "[A-Za-z]{1,8}"
_NAME = r"[A-Za-z_$][\w.$/-]{0,159}"
_ANYTHING = rf".{{0,{FREE}}}?"
_NAMED_FIRST = rf"[A-Za-z#].{{0,{FREE}}}?"
"""The same at the beginning of a line: a quotation mark, a number or blanks are no thread."""
_WORD = r"\S{0,160}?"
_THROWN = r"(?: (?:[\w$]{1,80}\.){1,12}[\w$]{0,80}(?:Exception|Error)\b.*)?"


@dataclass(frozen=True, slots=True)
class Layout:
    """A compiled pattern of a logger. ``record_start`` is an anchored pattern (RE2 syntax) of a line in this layout."""

    pattern: str
    record_start: str
    regex: re.Pattern[str]
    stamp: Stamp

    @property
    def plain(self) -> bool:
        """True when the time is local and written like ``2026-03-01 10:00:00``."""
        return self.stamp.plain

    @property
    def names_class(self) -> bool:
        """True when a line names the class that prints it."""
        return not {"logger", "class"}.isdisjoint(self.regex.groupindex)

    def line(self, text: str) -> Line | None:
        """Return the parts of a line, or None if it has another layout."""
        found = self.regex.match(text)
        if found is None:
            return None
        parts = found.groupdict()
        level = (parts.get("level") or "").strip().upper()
        return Line(
            partial(self.stamp.read, found.group("time")),
            LEVELS.get(level, level) or None,
            (parts.get("thread") or "").strip() or None,
            parts.get("logger") or parts.get("class"),
            parts.get("node") or None,
            parts["message"].rstrip(),
        )

    def time_of(self, text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
        """Return (us UTC, resolution in ms) of a line, or None if it has no possible time."""
        found = self.regex.match(text)
        try:
            return self.stamp.read(found.group("time"), utc_offset_minutes) if found else None
        except ValueError:
            return None


AnyLayout = Layout | JsonLayout


def any_layout(pattern: str) -> AnyLayout:
    """Return the reader of a logger's pattern string, or of JSON keys. Raises :class:`BadLayout` with the reason."""
    return json_layout(pattern) if pattern.startswith(PREFIX) else layout(pattern)


FIELDS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("c", "lo", "logger"), ("logger", _NAME)),
    **dict.fromkeys(("C", "class"), ("class", r"(?:[\w.$/-]{1,160}|\?)")),
    **dict.fromkeys(("t", "tn", "thread", "threadName"), ("thread", _ANYTHING)),
    **dict.fromkeys(("F", "file"), ("", r"[\w.$?-]{0,120}")),
    **dict.fromkeys(("L", "line"), ("", r"[\d?-]{0,8}")),
    **dict.fromkeys(("M", "method"), ("", r"[\w$<>?]{0,120}")),
    **dict.fromkeys(("l", "location", "caller"), ("", _ANYTHING)),
    **dict.fromkeys(("r", "relative", "sn", "sequenceNumber", "lsn", "N", "nano"), ("", r"\d{0,20}")),
    **dict.fromkeys(("tid", "T", "threadId", "tp", "threadPriority", "pid", "processId"), ("", r"\d{0,20}")),
    **dict.fromkeys(("x", "NDC", "X", "mdc", "MDC", "K", "map", "MAP", "kvp", "property"), ("", _ANYTHING)),
    **dict.fromkeys(("marker", "markerSimpleName", "contextName", "cn", "fqcn", "endOfBatch"), ("", _WORD)),
    **dict.fromkeys(("u", "uuid"), ("", r"[\w-]{0,40}")),
}
"""The field that a conversion word fills, and the form of its value."""

DATES = ("d", "date")
LEVEL_WORDS = ("p", "le", "level")
MESSAGES = ("m", "msg", "message")
LINE_ENDS = ("n",)
THROWN = (
    *("ex", "exception", "throwable", "xEx", "xException", "xThrowable", "rEx", "rException", "rThrowable"),
    *("wEx", "wex", "nopex", "nopexception", "rootException"),
)
"""Words for an exception: its lines follow the record's first one."""

OPTIONAL = ("notEmpty", "varsNotEmpty", "variablesNotEmpty")
AROUND = (
    *("highlight", "style", "clr", "replace", "enc", "encode", "maxLen", "maxLength", "equals", "equalsIgnoreCase"),
    *("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "gray", "grey", "boldRed", "boldGreen"),
    *("boldYellow", "boldBlue", "boldMagenta", "boldCyan", "boldWhite", "bold", "dim", "faint"),
)
"""Words around other words; colours are removed before a line is read."""

_WORD_AT = re.compile(r"%(-?\d{0,4})(?:\.(-?\d{1,4}))?([A-Za-z]*)")
_NAMES = sorted((*FIELDS, *DATES, *LEVEL_WORDS, *MESSAGES, *LINE_ENDS, *THROWN, *OPTIONAL, *AROUND), key=len)


@dataclass(slots=True)
class _Writer:
    """The pattern of a line, built from left to right."""

    start: str = ""
    regex: str = ""
    free: int = 0
    named: set[str] = field(default_factory=set)
    stamp: Stamp | None = None
    ended: bool = False

    def literal(self, text: str) -> None:
        """Add literal text."""
        if self.ended:
            return
        found = re.escape(text).replace(r"\ ", " ").replace(r"\-", "-").replace(r"\#", "#")
        self.regex += found
        self.start += "" if "message" in self.named else found

    def value(self, name: str, regex: str) -> None:
        """Add a field, captured as ``name`` unless that is empty or taken."""
        if self.ended:
            return
        self.free += regex == _ANYTHING and "message" not in self.named
        if regex == _ANYTHING and not self.regex:
            regex = _NAMED_FIRST
        self.start += "" if "message" in self.named else f"(?:{regex})"
        keep = name and name not in self.named
        self.regex += f"(?P<{name}>{regex})" if keep else f"(?:{regex})"
        self.named.add(name)


@lru_cache(maxsize=2048)
def layout(pattern: str) -> Layout:
    """Return the reader of a pattern string. Raises :class:`BadLayout` with the reason."""
    if len(pattern) > LONGEST:
        raise BadLayout(f"longer than {LONGEST} characters")
    writer = _Writer()
    _write(pattern, writer)
    if writer.stamp is None:
        raise BadLayout("it has no date (%d): nothing says when a line was written")
    if "message" not in writer.named:
        raise BadLayout("it has no message (%m)")
    if writer.free > MOST_FREE:
        raise BadLayout(f"more than {MOST_FREE} fields before the message may hold any text")
    try:
        regex = re.compile(rf"{writer.regex}\s*\Z", re.DOTALL | re.ASCII)
    except re.error as error:
        raise BadLayout(str(error)) from error
    return Layout(pattern, "^" + in_ascii(writer.start), regex, writer.stamp)


def in_ascii(regex: str) -> str:
    """Return a regular expression with ASCII classes spelled out, so that it needs no flag."""
    out, inside = "", False
    for piece in re.findall(r"\\.|.", regex, re.DOTALL):
        inside = piece == "[" or (inside and piece != "]")
        digits, word = ("0-9", "0-9A-Za-z_") if inside else ("[0-9]", "[0-9A-Za-z_]")
        out += {r"\d": digits, r"\w": word, r"\S": r"[^ \t]"}.get(piece, piece)
    return out


def _write(pattern: str, writer: _Writer) -> None:
    """Add the whole ``pattern``."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\" and at + 1 < len(pattern):
            escaped = pattern[at + 1]
            writer.ended |= escaped == "n" and "message" in writer.named
            writer.literal({"n": "", "r": "", "t": "\t", "_": ""}.get(escaped, escaped))
            at += 2
        elif pattern.startswith("%%", at):
            writer.literal("%")
            at += 2
        elif pattern.startswith("${", at):
            inner, at = _enclosed(pattern, at + 1)
            default = inner.partition(":-")[2]
            _write(default, writer) if "%" in default else writer.value("", _WORD)
        elif pattern[at] == "%":
            at = _conversion(pattern, at, writer)
        else:
            end = min((found for sign in "\\%$" if (found := pattern.find(sign, at + 1)) > 0), default=len(pattern))
            writer.literal(pattern[at:end])
            at = end


def _conversion(pattern: str, at: int, writer: _Writer) -> int:
    """Add the conversion that begins at ``at``; return where it ends."""
    found = _WORD_AT.match(pattern, at)
    width, _, letters = found.groups() if found else ("", None, "")
    word = next((name for name in reversed(_NAMES) if letters.startswith(name)), "")
    at = (found.end() if found else at + 1) - len(letters) + len(word)
    if letters and not word:
        raise BadLayout(f"%{letters} is no conversion word that is known")
    options: list[str] = []
    if pattern.startswith("(", at) and (not word or word in AROUND):
        inside, at = _enclosed(pattern, at)
        options.append(inside)
    elif not word:
        raise BadLayout("a % stands alone; %% is the sign itself")
    while pattern.startswith("{", at):
        option, at = _enclosed(pattern, at)
        options.append(option)
    before, after = _padding(width)
    writer.regex += "" if writer.ended else before
    writer.start += "" if writer.ended or "message" in writer.named else before
    _put(word, options, writer)
    writer.regex += "" if writer.ended else after
    writer.start += "" if writer.ended or "message" in writer.named else after
    return at


def _padding(width: str) -> tuple[str, str]:
    """Return the blanks that a width allows before and after a value."""
    blanks = min(abs(int(width)), 200) if width.lstrip("-") else 0
    if not blanks:
        return "", ""
    return ("", f" {{0,{blanks}}}") if width.startswith("-") else (f" {{0,{blanks}}}", "")


def _put(word: str, options: list[str], writer: _Writer) -> None:
    """Add one conversion word."""
    if word in DATES:
        found = stamp(*options)
        writer.value("time", found.regex)
        writer.stamp = writer.stamp or found
    elif word in LEVEL_WORDS:
        writer.value("level", f" {{0,3}}(?:{_ANY_LEVEL if options else _LEVEL}) {{0,3}}")
    elif word in MESSAGES:
        writer.value("message", ".*")
    elif word in LINE_ENDS:
        writer.ended |= "message" in writer.named
    elif word in THROWN:
        _put_thrown(writer)
    elif word in OPTIONAL:
        _put_optional("".join(options[:1]), writer)
    elif word in AROUND or not word:
        _write(options[0] if options else "", writer)
    elif word in ("X", "mdc", "MDC"):
        myid = bool(options) and options[0].partition(":")[0] == "myid"
        writer.value("node" if myid else "", r"\d{0,19}" if myid else _ANYTHING)
    else:
        writer.value(*FIELDS[word])


def _put_thrown(writer: _Writer) -> None:
    """Add an exception, which begins right after the message on its line."""
    if "message" in writer.named and not writer.ended:
        blank = writer.regex.removesuffix(" ")
        writer.regex = blank.replace("(?P<message>.*)", "(?P<message>.*?)") + _THROWN


def _put_optional(pattern: str, writer: _Writer) -> None:
    """Add a part that is omitted when it is empty."""
    inner = _Writer(named=set(writer.named), free=writer.free, stamp=writer.stamp)
    _write(pattern, inner)
    writer.regex += f"(?:{inner.regex})?"
    writer.start += "" if "message" in writer.named else f"(?:{inner.start})?"
    writer.free, writer.named, writer.stamp = inner.free, inner.named, inner.stamp


def _enclosed(pattern: str, at: int) -> tuple[str, int]:
    """Return the text between the bracket at ``at`` and its partner, and the position after it."""
    opening = pattern[at]
    closing = {"{": "}", "(": ")"}[opening]
    depth = 0
    for end in range(at, len(pattern)):
        if pattern[end - 1] == "\\" and end > at:
            continue
        depth += (pattern[end] == opening) - (pattern[end] == closing)
        if not depth:
            return pattern[at + 1 : end], end + 1
    raise BadLayout(f"{opening} is never closed")
