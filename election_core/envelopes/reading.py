"""Reading an enveloped file line by line: what a system wrote, and on which node.

Pieces of a line are joined, under the number of the first one. A line without the file's envelope is taken as it is if
a known system wrote it, is opened if it has another envelope (shippers are replaced while files grow), and otherwise
continues the record before it; in a file of JSON objects it is damage, and refused with the reason.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from election_replay.election_core.envelopes import export
from election_replay.election_core.envelopes.detection import DEEPEST, ENVELOPES, NAMED, Chain, Known, opened
from election_replay.election_core.envelopes.export import Export
from election_replay.election_core.envelopes.model import Broken, Opened

LONGEST_JOINED = 64 << 10
"""Pieces are not joined to lines longer than this, in characters."""

MOST_OPEN = 100
"""The most lines that may wait for their next piece at once."""

MOST_NAMES = 1_000
"""The most node names that are remembered; no file has more nodes."""


@dataclass(frozen=True, slots=True)
class Inner:
    """A line as its system wrote it, its position, and what its envelope tells of it; see :class:`Opened`. ``more`` are
    the lines that a shipper joined to it. ``line_no`` counts from 1."""

    line_no: int
    text: str
    more: tuple[str, ...] = ()
    node: str | None = None
    program: str | None = None
    file: str | None = None
    time: int | None = None
    utc_offset_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that could not be opened, and why."""

    line_no: int
    text: str
    reason: str


class Reader:
    """Opens the lines of one file in order; ``state`` is that of an earlier reading of its beginning."""

    def __init__(self, chain: Chain, known: Known, state: str | None = None) -> None:
        self._export = Export() if chain[:1] == (export.NAME,) else None
        self._chain = tuple(NAMED[name] for name in chain if name != export.NAME)
        self._known = known
        self._pieces: dict[str, dict[str, Any]] = {}
        self._last: dict[str, Any] = {}
        self._names: set[str] = set()
        self._indent = 0
        if state:
            kept = json.loads(state)
            self._pieces, self._last, self._names = kept["pieces"], kept["last"], set(kept["names"])
            self._indent = kept["indent"]
            self._export = Export(**kept["export"]) if kept["export"] else self._export

    @property
    def bytewise(self) -> bool:
        """True when lines must be passed as latin-1, byte for byte."""
        return self._export is not None

    def state(self, kept: Callable[[str], str] = str) -> str:
        """Return the state for the next reading, as text. ``kept`` is applied to the text of pieces that wait for the
        rest of their lines; a journal entry prints its lengths, and is kept unchanged."""
        pieces = {
            key: {**piece, "opened": {**piece["opened"], "text": kept(piece["opened"]["text"])}}
            for key, piece in self._pieces.items()
        }
        state = {
            "pieces": pieces,
            "last": self._last,
            "names": sorted(self._names),
            "indent": self._indent,
            "export": self._export.state if self._export else None,
        }
        return json.dumps(state, sort_keys=True)

    @property
    def waiting(self) -> int:
        """The number of characters in unfinished pieces, or in an unfinished journal entry."""
        pieces = sum(len(piece["opened"]["text"]) for piece in self._pieces.values())
        return pieces + (self._export.waiting if self._export else 0)

    def read(self, line_no: int, line: str) -> Iterator[Inner | Refused]:
        """Yield the content of a line without its line end: mostly one line."""
        try:
            if self._export is None:
                yield from self._opened(line_no, line)
            else:
                for number, entry in self._export.read(line_no, line):
                    yield from self._inside(number, entry, 0)
        except Broken as error:
            yield Refused(line_no, line, str(error))

    def finish(self) -> Iterator[Inner | Refused]:
        """Yield what is unfinished at the end of a file that grows no more."""
        if self._export:
            for number, entry in self._export.finish():
                yield from self._inside(number, entry, 0)
        for piece in list(self._pieces.values()):
            yield from self._inner(piece["line_no"], Opened(**piece["opened"]))
        self._pieces.clear()

    def _opened(self, line_no: int, line: str) -> Iterator[Inner | Refused]:
        found = self._open(0, line)
        if found is not None:
            self._indent = len(line) - len(found.text)
            yield from self._inside(line_no, found, 1)
        elif not line.strip():
            return
        elif self._known(line):
            yield from self._inner(line_no, Opened(line))
        elif (other := self._elsewhere(line)) is not None:
            yield from self._inner(line_no, other)
        elif self._chain and self._chain[0].whole:
            yield Refused(line_no, line, f"not a line of {self._chain[0].name}")
        elif self._last:
            yield Inner(line_no, self._unindented(line), **self._last)

    def _open(self, level: int, line: str) -> Opened | None:
        """Return the content of the envelope of ``level``; a loose one must name a source that it named before."""
        if level >= len(self._chain):
            return None
        envelope = self._chain[level]
        found = envelope.opens(line)
        if found is None or not envelope.loose or envelope.whole:
            return found
        name = f"{found.node} {found.file}"
        if name not in self._names and self._knows(level + 1, found.text) and len(self._names) < MOST_NAMES:
            self._names.add(name)
        return found if name in self._names else None

    def _knows(self, level: int, text: str) -> bool:
        """Return True when a line of a known system is inside the envelopes from ``level`` on."""
        while level < len(self._chain) and (found := opened(self._chain[level], text)) is not None:
            text, level = found.text, level + 1
        return self._known(text)

    def _inside(self, line_no: int, found: Opened, level: int) -> Iterator[Inner | Refused]:
        """Yield the content of the envelopes inside of ``found``, which was opened at the level before ``level``."""
        while True:
            whole = self._joined(line_no, found, level)
            if whole is None:
                return
            line_no, found = whole
            inner = self._open(level, found.text)
            if inner is None:
                break
            found, level = outside(found, inner), level + 1
        yield from self._inner(line_no, found)

    def _joined(self, line_no: int, found: Opened, level: int) -> tuple[int, Opened] | None:
        """Return the line completed by a last piece, with the number of its first piece; None if more pieces must
        come."""
        key = f"{level} {found.node} {found.program} {found.file} {found.channel}"
        if not found.partial and key not in self._pieces:
            return line_no, found
        before = self._pieces.pop(key, None)
        if before is not None:
            line_no, kept = before["line_no"], before["opened"]
            found = replace(found, text=kept["text"] + found.text, time=kept["time"])
        if len(found.text) > LONGEST_JOINED:
            raise Broken(f"pieces of a line of more than {LONGEST_JOINED} characters, from line {line_no} on")
        if found.partial:
            if len(self._pieces) >= MOST_OPEN:
                raise Broken(f"more than {MOST_OPEN} lines stand open, each waiting for its next piece")
            self._pieces[key] = {"line_no": line_no, "opened": asdict(found)}
            return None
        return line_no, found

    def _elsewhere(self, line: str) -> Opened | None:
        """Return the content of another envelope: with a known line inside, or the first one that is not loose."""
        best = None
        for envelope in ENVELOPES:
            found = opened(envelope, line)
            depth = 1
            while found is not None and depth < DEEPEST and not self._known(found.text):
                inner = next(
                    (opened_text for env in ENVELOPES if not env.loose and (opened_text := opened(env, found.text))),
                    None,
                )
                if inner is None:
                    break
                found, depth = outside(found, inner), depth + 1
            if found is not None and self._known(found.text):
                return found
            if found is not None and not envelope.loose:
                best = best or found
        return best

    def _unindented(self, line: str) -> str:
        """Return a line without the indentation that journalctl gives to an entry's further lines."""
        return line[self._indent :] if line[: self._indent].isspace() else line

    def _inner(self, line_no: int, found: Opened) -> Iterator[Inner | Refused]:
        first, *more = found.text.split("\n")
        if any(self._known(line) for line in more):
            yield Refused(line_no, found.text, f"{len(more) + 1} lines of several records are joined in one")
            return
        who = {"node": found.node, "program": found.program, "file": found.file}
        if self._export is None:
            self._last = who
        yield Inner(line_no, first, tuple(more), **who, time=found.time, utc_offset_minutes=found.utc_offset_minutes)


def outside(outer: Opened, inner: Opened) -> Opened:
    """Return the content of a nested envelope; the inner one knows better who wrote it."""
    return Opened(
        inner.text,
        inner.node or outer.node,
        inner.program or outer.program,
        inner.file or outer.file,
        inner.channel or outer.channel,
        outer.time if inner.time is None else inner.time,
        inner.partial,
        outer.utc_offset_minutes if inner.utc_offset_minutes is None else inner.utc_offset_minutes,
    )
