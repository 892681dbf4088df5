"""Tell whether the lines of a file were understood at all, and if not, what they look like and what to do.

Lines of no interest are no problem, and neither is a quiet file. The problem is a file whose lines look like those of a
log but do not fit its dialect: another layout, another encoding, an archive.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl

from election_replay.election_core.dialects import NAMED, Dialect, dialect_for
from election_replay.election_core.dialects.readings import readings
from election_replay.jobs.landing.literals import TELLING_OF, TELLTALES, containing
from election_replay.schemas.landed_files import NOT_UNDERSTOOD

LOOKS_DATED = (
    r'^[^\S\n]{0,3}[^\n]{0,60}?(?:\b|[Tt])\d{1,2}:[0-5]\d:[0-5]\d(?:\b|[Zz])|^\W{0,2}\{ ?"|^\W{0,2}1\d{9}(?:\d{3})?\b'
)
"""The pattern of a line that looks like the beginning of a record, in any layout."""

OF_THE_LOGGER = r"^[^\n]{0,40}\|-(?:INFO|WARN|ERROR) in "
"""The pattern of logback's status lines about itself, which it prints on the console while it starts."""

AROUND = (
    r"^(?:\S+ (?:std(?:out|err) [FP] )?)?(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w./-]+\.go:\d+\] "
    r"|time=\"[^\"]{10,40}\" level=\w+ msg=)"
)
"""The pattern of lines of the parts of Kubernetes in one process with etcd, and of k3s and rke2 themselves."""

ESCAPED = "&(?:quot|lt|gt|#39|#34|#x27|#x22);"
"""The pattern of a character that HTML escapes; an escaped line has no plain ``<`` or ``>`` besides."""

WRITTEN_ALIKE = 10_000
"""How many records are searched for HTML escapes: a file that has them, or has none, stays that way."""

FEWEST = 20
"""How many lines in a second layout, at least, are no accident."""

SHARE = 5
"""One line in so many must be in a second layout for it to count as a problem."""

KEPT = 300
"""About how many lines of a kind are kept to show what they look like."""

KEPT_CHARACTERS = 500
"""How many characters of each kept line are passed on to where the parts of a file are added up."""

LOOKED_AT = 100
"""How many of the first dated lines are read to tell whether their layout is known."""

HITS = 3
"""How many lines with texts of a system, at least, show that a file is of that system."""

ARCHIVES: tuple[tuple[bytes, int, str], ...] = (
    (b"PK\x03\x04", 0, "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", 0, "a 7z archive"),
    (b"\xfd7zXZ\x00", 0, "a file compressed by xz"),
    (b"\x04\x22\x4d\x18", 0, "a file compressed by lz4"),
    (b"\xff\x06\x00\x00sNaPpY", 0, "a file compressed by snappy"),
    (b"\x1f\x9d", 0, "a file compressed by compress"),
    (b"ustar", 257, "a tar archive"),
)
"""(bytes, offset, kind) of the archives and compressed files that this program does not unpack."""

_PACKED = {f"it is {kind}" for _, _, kind in ARCHIVES}

_PRETTY = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*\{|\{[ \t\r]*\n\s*\")")
_TIME_ONLY = re.compile(r"^\W{0,2}\d{1,2}:\d\d:\d\d[.,:]?\d{0,9}\b")
_AMBIGUOUS = re.compile(r"\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2}(?:\d{2})?[ T]\d{1,2}:\d\d:\d\d")
SETTING = "say how it is written under layouts in conf/pipeline.yaml"


Trouble = tuple[str, str]
"""(what is wrong, what to do about it)."""


class Understanding:
    """What one landing saw of the lines of one file."""

    def __init__(self, stream: str, dialect: Dialect | None) -> None:
        self.stream = stream
        self.dialect = dialect
        self.lines = 0
        self.dated = 0
        self.filled = 0
        self.strangers = 0
        self.looked_at = 0
        self.unread = 0
        self.garbled = 0
        self.escaped = 0
        self.trouble: Trouble | None = None
        self._strange: list[str] = []
        self._other: list[str] = []
        self._behind: list[str] = []
        self._last_unread: list[str] = []

    def begin(self, data: bytes) -> None:
        """Look at a file's first bytes for an archive, another encoding, JSON over many lines, or an unknown layout."""
        self.trouble = archive(data) or encoding(data, self.stream) or pretty(data, self.stream)
        if self.trouble is None and self.dialect is None:
            self.trouble = self._suspected(data)

    def take_all(self, lines: Sequence[str]) -> None:
        """Look at whole lines; those that begin records are found by the dialect."""
        texts = pl.Series(lines, dtype=pl.String)
        begins = (
            texts.str.contains(self.dialect.record_start).arg_true() if self.dialect else pl.Series([], dtype=pl.Int64)
        )
        self.take(texts, begins.to_numpy().astype(np.int64))

    def take(self, texts: pl.Series, begins: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> None:
        """Look at whole lines; ``begins`` are the indices of those that begin records."""
        self.lines += len(texts)
        self.dated += len(begins)
        if self.dialect and len(begins):
            self._look_at_records(texts, begins, self.dialect)
        if len(begins) == len(texts):
            return
        other = np.ones(len(texts), dtype=bool)
        other[begins] = False
        others = texts.filter(pl.Series(other))
        of_a_log = ~(of_the_logger(others) | others.str.contains(AROUND))
        others, numbers = others.filter(of_a_log), np.flatnonzero(other)[of_a_log.to_numpy()]
        looks = others.str.contains(LOOKS_DATED)
        dated, places = others.filter(looks), numbers[looks.to_numpy()]
        if len(dated):
            behind = int(np.searchsorted(places, begins[-1])) if len(begins) else 0
            self._behind = (self._behind + dated[behind : behind + KEPT].to_list())[:KEPT]
        self.strangers += len(dated)
        self.garbled += int(others.str.contains("\ufffd", literal=True).sum())
        if not self.dated:
            self.filled += int(others.str.contains(r"\S").sum())
        if len(self._strange) < KEPT:
            self._strange += dated.head(KEPT).to_list()
        if len(self._other) < KEPT:
            self._other += others.head(KEPT).to_list()

    def _look_at_records(
        self, texts: pl.Series, begins: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]", dialect: Dialect
    ) -> None:
        """Look at the first lines of the file's first records and of the last ones of these ``texts``."""
        self._behind = []
        if self.dated <= WRITTEN_ALIKE + len(begins):
            records = texts[begins]
            escaped = records.filter(records.str.contains(ESCAPED))
            self.escaped += int((~escaped.str.contains("[<>]")).sum()) if len(escaped) else 0
        if self.looked_at < LOOKED_AT:
            first = texts[begins[:LOOKED_AT]].to_list()
            unread = [line for line in first if not dialect.reads(line)]
            self.looked_at += len(first)
            self.unread += len(unread)
            self._strange += unread
        last = texts[begins[-FEWEST:]].to_list()
        self._last_unread = last if len(last) == FEWEST and not any(map(dialect.reads, last)) else []

    def shortened(self) -> "Understanding":
        """Cut the kept lines to KEPT_CHARACTERS each, and to KEPT of each kind, and return this object."""
        for lines in (self._strange, self._other, self._behind, self._last_unread):
            lines[:] = [line[:KEPT_CHARACTERS] for line in lines[:KEPT]]
        return self

    def add(self, later: "Understanding") -> None:
        """Add what was seen of the lines that follow these in the file."""
        self.trouble = self.trouble or later.trouble
        self.filled += 0 if self.dated else later.filled
        if self.dated <= WRITTEN_ALIKE:
            self.escaped += later.escaped
        if self.looked_at < LOOKED_AT:
            self.looked_at, self.unread = self.looked_at + later.looked_at, self.unread + later.unread
        if later.dated:
            self._behind, self._last_unread = later._behind, later._last_unread
        else:
            self._behind = (self._behind + later._behind)[:KEPT]
        self.lines, self.dated = self.lines + later.lines, self.dated + later.dated
        self.strangers, self.garbled = self.strangers + later.strangers, self.garbled + later.garbled
        self._strange = (self._strange + later._strange)[: 2 * KEPT]
        self._other = (self._other + later._other)[: 2 * KEPT]

    def problem(self, kept: Callable[[str], str]) -> str | None:
        """Return a sentence on what is wrong, None if nothing is; ``kept`` removes from a line what must be hidden."""
        trouble = self.trouble or (self._of_lines() if self.dialect else None)
        if trouble is None or not (self.lines or self.trouble):
            return None
        wrong, to_do = trouble
        lines = self._last_unread or self._strange or self._other
        if wrong in _PACKED:  # it has bytes, and no lines
            lines = []
        looks = f"; most lines look like {shape(kept, lines)}" if lines else ""
        return f"{NOT_UNDERSTOOD}{wrong}{looks}; {to_do}"

    def shapes(self, kept: Callable[[str], str], count: int = 3) -> list[tuple[int, str]]:
        """Return (number of kept lines, example) of the commonest forms of the lines that could not be read.

        ``kept`` removes from a line what must be hidden.
        """
        lines = self._strange or ([] if self.dated else self._other)
        common = Counter(form(line) for line in lines).most_common(count)
        return [(many, example(lines, commonest, kept)) for commonest, many in common]

    def _of_lines(self) -> Trouble | None:
        name = self.dialect.system if self.dialect else ""
        if not self.dated and (self.strangers or self.filled >= FEWEST):
            return f"none of {self.lines:,} lines begins as one of {name} does", advice(self._strange)
        if self.strangers >= FEWEST and SHARE * self.strangers >= self.dated + self.strangers:
            wrong = f"{self.strangers:,} lines look dated, but not as the {self.dated:,} others are"
            return wrong, advice(self._strange)
        if self.looked_at and 2 * self.unread > self.looked_at:
            return f"lines are dated, but most are in no layout of {name} that is known", advice(self._strange)
        if self._last_unread:
            wrong = f"the last lines are dated, but in no layout of {name} that is known, as the first ones are"
            return wrong, advice(self._last_unread)
        if len(self._behind) >= FEWEST and sum(speaks(name, line) for line in self._behind) >= HITS:
            wrong = f"the last lines, {len(self._behind)} or more, look dated, but not as those before"
            return wrong, advice(self._behind)
        if self.garbled >= FEWEST:
            return f"{self.garbled:,} lines are no text", "see what is in it: something compressed, or another encoding"
        if self.escaped >= HITS:
            return f"{self.escaped:,} lines are written as in HTML (&quot;)", "write it as plain text"
        if self.dialect and self.dialect.missing and self.dated:
            return f"the layout does not tell {self.dialect.missing}", "add it to the logger's pattern"
        return None

    def _suspected(self, data: bytes) -> Trouble | None:
        """Return the trouble of a file whose lines hold texts of a dialect in an unknown layout; None for any other."""
        lines = pl.Series(data.decode("utf-8", "replace").split("\n"), dtype=pl.String)
        hits = lines.filter(containing(lines, TELLTALES))
        for dialect, telling in TELLING_OF.items():
            spoken = hits.filter(containing(hits, telling)) if len(hits) else hits
            dated = spoken.filter(spoken.str.contains(LOOKS_DATED)).head(KEPT).to_list() if len(spoken) else []
            unread = [
                line for line in dated if not any(reading.reads(line) for reading in readings(NAMED[dialect], [line]))
            ]
            if len(unread) >= HITS:
                self._strange += unread
                return f"the lines hold texts of {dialect} in a layout that is not known", advice(unread)
        return None


def of_the_logger(lines: pl.Series) -> pl.Series:
    """Return for each line whether it is a status line of logback about itself."""
    if not lines.str.contains("|-", literal=True).any():  # costs a tenth of the pattern, and hardly any file has it
        return pl.repeat(False, len(lines), eager=True)
    return lines.str.contains(OF_THE_LOGGER)


def speaks(system: str, line: str) -> bool:
    """Return True when a line holds a text of the system."""
    return any(literal in line for literal in TELLING_OF.get(system, ()))


def archive(data: bytes) -> Trouble | None:
    """Return the trouble of a file that begins with ``data`` and is an archive; None for any other."""
    found = next((name for magic, at, name in ARCHIVES if data.startswith(magic, at)), None)
    return (f"it is {found}", "unpack it before it is landed") if found else None


def encoding(data: bytes, stream: str) -> Trouble | None:
    """Return the trouble of a file with the name of a log that is UTF-16 or no text; None for any other."""
    head = data[:4096]
    if b"\0" not in head or not (dialect_for(stream) or stream.endswith((".log", ".out", ".txt"))):
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 3 > len(head) and min(even, odd) * 10 < max(even, odd):
        return "it is UTF-16 text", "write it, or convert it, as UTF-8"
    if head.count(0) * 20 > len(head):
        return "it is no text: bytes of zero are all over its beginning", "see what wrote it"
    return None


def pretty(data: bytes, stream: str) -> Trouble | None:
    """Return the trouble of a log whose JSON objects are in an array or span several lines; None for any other."""
    known = dialect_for(stream) or stream.endswith((".log", ".out", ".txt", ".json"))
    if not known or not _PRETTY.match(data[:4096]):
        return None
    return "its JSON is an array, or written over many lines", "write each object on one line (jq -c '.[]?')"


def advice(lines: Iterable[str]) -> str:
    """Return what to do about lines in an unknown layout."""
    first = list(lines)[:FEWEST]
    if first and all(_TIME_ONLY.match(line) for line in first):
        return "their times say no day: let the logger's pattern write the date"
    if any(_AMBIGUOUS.search(line[:100]) for line in first):
        return f"their dates can mean two days: {SETTING}"
    return SETTING


def shape(kept: Callable[[str], str], lines: Sequence[str]) -> str:
    """Return an example of the commonest form of the lines; there must be at least one line."""
    [(common, _)] = Counter(form(line) for line in lines).most_common(1)
    return example(lines, common, kept)


def example(lines: Iterable[str], wanted: str, kept: Callable[[str], str]) -> str:
    """Return the first line of the form ``wanted``, quoted, with each digit as a 9, in at most 100 characters."""
    line = next(line for line in lines if form(line) == wanted)
    return "'" + printable(re.sub(r"\d", "9", kept(line)))[:100] + "'"


def form(line: str) -> str:
    """Return the beginning of a line with each number as 9 and each word as a, so that similar lines are equal."""
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", line[:120]))[:24]


def printable(text: str) -> str:
    """Return a text with a replacement character for each character that is not printable."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
