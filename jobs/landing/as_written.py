"""Reads a file as its lines were written, where they do not stand so: in their order, and each by its writer.

Log stores export the newest line first, ``sort`` puts lines in the order of their letters, ``cat log log.1`` puts the
end before the beginning, ``cat */*.log`` one member behind another, and servers of Redis share a file without a name
in any line. Some lines of a file show it. The file is then put right in memory where it is landed, so that a nightly
run and a look read it alike.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath

import polars as pl

from election_replay.election_core.dialects import CANONICAL, Dialect, dialect_for, is_other, named, speaker_of
from election_replay.election_core.dialects.dialect import Record
from election_replay.election_core.envelopes import Chain, Inner, Reader, chain_in, export
from election_replay.election_core.fold.members import named_writer
from election_replay.election_core.model.events import Unparsable
from election_replay.election_core.model.streams import PACKED, stream_of, unpacked
from election_replay.jobs.landing.blocks import CHUNK_BYTES, Block, Blocks, read_at
from election_replay.jobs.landing.exports import as_bytes, is_entry, is_json, may_be_rewritten, rewritten, text_of
from election_replay.jobs.landing.heads import head_found
from election_replay.jobs.landing.inferred_layout import common, stem, telling
from election_replay.jobs.landing.joined_logs import logs_of_members, set_back
from election_replay.jobs.landing.known_files import NotReadError
from election_replay.jobs.landing.landing_zone import READ_FAILURES, LandingZone
from election_replay.jobs.landing.listing import LogFile, Writer
from election_replay.jobs.landing.literals import TELLTALES, containing
from election_replay.jobs.landing.processes import in_turn, members_in, one_after_another, writers_in
from election_replay.jobs.landing.reversed_files import (
    SAMPLE,
    by_time,
    falls,
    newest_first,
    parts_in_order,
    reversed_files,
    sorted_as_texts,
)
from election_replay.jobs.landing.written_times import setbacks, stamp_of
from election_replay.jobs.settings.config import Config

LOOKED_AT = 1 << 18
"""How many bytes of a file's beginning tell the order of its lines."""

SEARCHED = 16 << 20
"""How many bytes of a file's beginning are searched for several members."""

LINE_BEGINS = 1 << 10
"""How many bytes of a line are read for its time."""

PLACES = 64
"""At so many places of a file its times are compared: they go back where the log of another member begins."""

LARGEST = 256 << 20
"""The largest file, in bytes after decompression, that is held in memory to be put right."""

GREW = (
    "it has grown, but its first lines did not stand as they were written, and were landed in another order or by "
    "other names: give the new lines as a file of their own"
)
TOO_LARGE = "{}, and it has more than {} MiB, which are not put right: none is read; {}"

EXPORT = "it is an export of a log store, or a copy of a page"
EXPORTED = f"{EXPORT}: the lines of the log are taken out of it"
READ_BACKWARDS = "the newest line comes first: it is read backwards, and lines are counted from its end"
PARTS = "the end of the log stands before its beginning: its parts are read in the order of their times"
SORTED = (
    "its lines are sorted as texts: they are read in the order of their times. The order within one time is lost, and "
    "what rests on it may be false: ask for the log as it was written"
)
SEPARATE = "it holds the lines of {} servers or sentinels of Redis: each is read apart"
MEMBERS = "it holds the logs of {} members, one behind the other: each is read apart"
LOGS_OF_ONE = "it holds {} logs of one process, one behind the other: each is read as a log by itself"
PERHAPS_SEVERAL = (
    "its times go back below a line that is not of a log, so it may hold several logs: what rests on its order is not "
    "sure. Give each log as a file of its own"
)
LEFT_OUT = "; {} lines are left out, of a restart that may be of each of several"


@dataclass(frozen=True, slots=True)
class AsWritten:
    """The lines of a file as they were written, and how they are read. ``writers`` are those of each line, None:
    nobody knows; empty: the file's node wrote all. ``order_lost``: the order within one time is a guess.
    ``enveloped``: lines with writers still come in envelopes."""

    lines: Sequence[str]
    put_right: str
    order_lost: bool = False
    writers: Sequence[Writer | None] = ()
    enveloped: bool = False

    def blocks(self, size: int = CHUNK_BYTES) -> Iterator[Block]:
        """Yield the lines in blocks of about ``size`` bytes, by default of the size in which files are read."""
        held, length = list[bytes](), 0
        for line in self.lines:
            data = f"{line}\n".encode("utf-8", "surrogateescape")
            if held and length + len(data) > size:
                yield Block(b"".join(held), length)
                held, length = [], 0
            held.append(data)
            length += len(data)
        if held:
            yield Block(b"".join(held), length)


@dataclass(frozen=True, slots=True)
class Held:
    """A text in memory, which can be looked at as the blocks of a file can."""

    data: bytes

    def peek(self, length: int) -> bytes:
        """Return the first ``length`` bytes, or as many as there are."""
        return self.data[:length]


PutRight = Callable[[Sequence[str]], AsWritten | None]
"""A function that returns the lines of a file as they were written; None where they stand so."""


@dataclass(frozen=True, slots=True)
class Disorder:
    """What seems wrong with the order or the writers of a file's lines, and what puts it right. ``otherwise`` is what
    to do with a file that is too large; None: it is read as it stands."""

    put_right: PutRight
    wrong: str = ""
    otherwise: str | None = None


def as_written(blocks: Blocks, disorder: Disorder) -> AsWritten | None:
    """Return the lines that ``blocks`` hold as they were written, None where they stand so; only then they are left.

    Raises :class:`NotReadError` for a file that is too large to be put right, and must not be read as it stands.
    """
    data = blocks.peek(LARGEST + 1)
    if len(data) > LARGEST:
        if disorder.otherwise is None:
            return None
        raise NotReadError(TOO_LARGE.format(disorder.wrong, LARGEST >> 20, disorder.otherwise))
    whole = data[: data.rfind(b"\n") + 1] if blocks.problem else data
    found = disorder.put_right(texts_of(whole))
    if found is not None:
        blocks.read_through()
        if blocks.rest and not blocks.problem:
            blocks.take_rest()
    return found


def export_of(
    blocks: Blocks, file: LogFile, zone: LandingZone, dialect: Dialect | None, config: Config, *, beside: bool
) -> Disorder | None:
    """Return how the logs are taken out of a file that is an export of a log store, a copy of a screen or a page, or a
    text of several members; None for any other file. A file with a known name that begins with a record is a log."""
    if file.below or file.of_table or is_other(file.stream) or dialect is CANONICAL:
        return None
    data = blocks.peek(LOOKED_AT)
    beginning = text_of(data)
    first = next(filter(None, beginning.splitlines()), "")
    by_name = dialect_for(file.stream) is not None and dialect is not None
    if (by_name and speaker_of(first, dialect) is not None) or data.startswith(b"__CURSOR="):
        return None
    if not may_be_rewritten(beginning, file):
        return None
    put_right = partial(_taken_out, file=file, zone=zone, config=config, beside=beside)
    if not is_json(beginning) and put_right(beginning.split("\n")) is None:
        return None
    return Disorder(put_right, EXPORT, "give each entry on a line of its own")


def _taken_out(
    lines: Sequence[str], file: LogFile, zone: LandingZone, config: Config, *, beside: bool
) -> AsWritten | None:
    """Return the lines of the logs in an export, each log's put right; None where nothing is known of the lines."""
    parts, assumed = rewritten("\n".join(lines).removeprefix("\ufeff"), file)
    of_writers = writers_of([path for path, _ in parts]) if len(parts) > 1 else [Writer(None, file.name)]
    texts: list[str] = []
    writers: list[Writer | None] = []
    how, known, order_lost = dict.fromkeys(assumed or [EXPORTED]), False, False
    for writer, (_, of_part) in zip(of_writers, parts, strict=False):
        of_writer = replace(file, source_node=writer.node or file.source_node, known_as=writer.log, settled=True)
        data = as_bytes(of_part)
        found = head_found(of_writer, data[:LOOKED_AT], config)
        taken_out = found.envelope is not None or not any(map(is_entry, of_part[:1]))  # else its texts are not read
        known = known or (found.dialect is not None and taken_out)
        disorder = disorder_of(Held(data), of_writer, zone, named(found.dialect), found.envelope, beside=beside)
        ordered = (disorder and disorder.put_right(of_part)) or AsWritten(of_part, "")
        how |= dict.fromkeys(filter(None, [ordered.put_right]))
        order_lost = order_lost or ordered.order_lost
        texts += ordered.lines
        writers += [_further(writer, inner) for inner in ordered.writers] or [writer] * len(ordered.lines)
    alone = {*writers} == {Writer(None, file.name)}
    writers = [] if alone else writers
    return AsWritten(texts, "; ".join(how), order_lost, writers, enveloped=True) if known else None


def _further(writer: Writer, inner: Writer | None) -> Writer | None:
    """Return the writer of a line in the log of a ``writer`` that holds several logs."""
    return inner and Writer(inner.node or writer.node, inner.log)


def writers_of(paths: Sequence[str]) -> list[Writer]:
    """Return the writer of each log of several members, by its path in the headings of a text: the first folder that
    they do not have in common; else the name of the log, unless it is a log that each member writes."""
    folders = [telling(PurePosixPath(path).parent.parts) for path in paths]
    shared = len(common(folders))
    found = []
    for path, of_path in zip(paths, folders, strict=True):
        name = PurePosixPath(path).name
        node = of_path[shared] if len(of_path) > shared else None
        if node is None and dialect_for(stream_of(name)) is None:
            node = stem(name)
        found.append(Writer(node, name))
    return found


def disorder_of(
    blocks: Blocks | Held,
    file: LogFile,
    zone: LandingZone,
    dialect: Dialect | None,
    envelope: str | None,
    *,
    beside: bool,
) -> Disorder | None:
    """Return what the beginning of a file shows to be wrong with its lines; None if they seem to stand as they were
    written. ``beside``: another node has a file of this name."""
    chain = chain_in(envelope) if envelope else ()
    if dialect is None or file.below or file.of_table or chain[:1] == (export.NAME,):
        return None
    beginning = texts_of(blocks.peek(LOOKED_AT))
    if newest_first(beginning, grows=not file.complete):
        turn: Callable[[Sequence[str]], Sequence[str]] = reversed_files
    elif falls(pairwise(times_outside(beginning, chain, dialect)), grows=not file.complete):
        turn = backwards
    elif sorted_as_texts(beginning[:-1], grows=not file.complete):
        sort = partial(_turned, turn=by_time, how=SORTED, order_lost=True)
        return Disorder(sort, "its lines are sorted as texts", "give the log as it was written")
    elif dialect.system == "redis":
        put_right = partial(_by_process, file=file, chain=chain, dialect=dialect, beside=beside)
        found = put_right(texts_of(blocks.peek(SEARCHED)))
        wrong = "it holds the lines of several servers of Redis"
        return Disorder(put_right, wrong, "give each its log") if found else None
    elif goes_back(blocks, file, zone):
        return Disorder(partial(_by_member, file=file, chain=chain, dialect=dialect))
    else:
        return None
    back = partial(_turned, turn=turn, how=READ_BACKWARDS)
    return Disorder(back, "its lines come with the newest first", "give it with the oldest first (tac FILE)")


def texts_of(data: bytes) -> list[str]:
    """Return the lines in ``data``; bytes that are no UTF-8 are surrogates in them."""
    return data.decode("utf-8", "surrogateescape").split("\n")[: -1 if data[-1:] == b"\n" else None]


def backwards(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines from the last to the first."""
    return lines[::-1]


def _turned(
    lines: Sequence[str], turn: Callable[[Sequence[str]], Sequence[str]], how: str, *, order_lost: bool = False
) -> AsWritten:
    return AsWritten(turn(lines), how, order_lost)


def _by_member(lines: Sequence[str], file: LogFile, chain: Chain, dialect: Dialect) -> AsWritten | None:
    """Return the parts of a log in their order, or the lines with the members and logs that they are of; None for one
    log as it was written, and where envelopes name nodes."""
    if parts := parts_in_order(lines):
        return AsWritten(parts, PARTS)
    inside = opened(lines, chain, dialect)
    if any(inner.node or inner.file for inner in inside if inner):
        return None
    texts = readable([inner.text if inner else "" for inner in inside] or lines)
    speaking = speakers_in(texts, dialect, file.stream)
    begins = pl.Series(texts, dtype=pl.String).str.contains(dialect.record_start).arg_true()
    if len({*speaking.values()}) < 2 and not set_back(lines[number] for number in begins.to_list()):
        return None
    members = logs_of_members(lines, speaking)
    if not members and dialect_for(file.stream) is None and below_another_line(lines, dialect):
        return AsWritten(lines, PERHAPS_SEVERAL, order_lost=True)
    if not members or (len(members) == 1 and not file.complete):  # of a live log the clock is set, or it comes again
        return None
    writers: list[Writer | None] = [None] * len(lines)
    for number, logs in enumerate(members, 1):
        node = f"{file.source_node}-part-{number}" if len(members) > 1 else None
        for log, sections in enumerate(logs, 1):
            writer = Writer(node, name_of_log(file, log))
            for section in sections:
                writers[section.start : section.stop] = [writer] * len(section)
    if len(members) > 1:
        return AsWritten(lines, MEMBERS.format(len(members)), writers=writers)
    lost = any(set_back(line for section in log for line in lines[section.start : section.stop]) for log in members[0])
    return AsWritten(lines, LOGS_OF_ONE.format(len(members[0])), lost, writers)


def below_another_line(lines: Sequence[str], dialect: Dialect) -> bool:
    """Return True when time goes back below a line that begins at its margin and is not of the log: what parts logs."""

    begins = re.compile(dialect.record_start)
    before, apart = list[str](), False
    for line in lines:
        if begins.search(line):
            if apart and set_back([*before, line]):
                return True
            before, apart = [line], False
        else:
            apart = apart or bool(line[:1].strip())
    return False


def readable(lines: Sequence[str]) -> list[str]:
    """Return the lines with a question mark for each byte that is no UTF-8."""
    return [line if line.isascii() else line.encode("utf-8", "replace").decode() for line in lines]


def name_of_log(file: LogFile, number: int) -> str:
    """Return the name of the ``number``-th log of a member in a file."""
    name = PurePosixPath(unpacked(file.name)).name
    return name if number == 1 else f"{stem(name)}-{number}{PurePosixPath(name).suffix}"


def speakers_in(lines: Sequence[str], dialect: Dialect, stream: str) -> dict[int, str]:
    """Return the member that wrote a line by its own words, by the number of the line."""
    texts, found = pl.Series(lines, dtype=pl.String), dict[int, str]()
    for number in containing(texts, TELLTALES).arg_true().to_list():
        with suppress(Unparsable):
            event = dialect.parse(Record(lines[number], (), stream, 0))
            if event and (name := named_writer(event.kind, event.node)):
                found[number] = name
    return found


def goes_back(blocks: Blocks | Held, file: LogFile, zone: LandingZone) -> bool:
    """Return True when times at some places of a file are more than a second before those at places before them."""
    data = blocks.peek(SEARCHED)
    places = [data.find(b"\n", at * len(data) // PLACES) + 1 for at in range(PLACES)]
    lines = [data[place : place + LINE_BEGINS] for place in places]
    if file.size > SEARCHED and not file.path.endswith(PACKED):
        with suppress(*READ_FAILURES):
            lines += read_at(zone, file.path, file.size - LOOKED_AT, LOOKED_AT).splitlines()[-PLACES:]
    stamps = [found for line in lines if (found := stamp_of(line)) is not None]
    return any(fall > 1 for fall in setbacks(stamps))


def _by_process(
    lines: Sequence[str], file: LogFile, chain: Chain, dialect: Dialect, *, beside: bool
) -> AsWritten | None:
    """Return the lines with the servers and sentinels of Redis that wrote them; None where one did, or where the file
    may be that of one whose clock was set, as it is ``beside`` another of its name."""
    inside = opened(lines, chain, dialect) if chain else []
    if len({inner.node for inner in inside if inner}) > 1:
        return None
    plain = [inner.text if inner else "" for inner in inside] or lines
    members, left_out = members_in(plain)
    if not members or in_turn(members, left_out) or (beside and one_after_another(members, left_out)):
        return None
    texts, writers = writers_in(plain, members, file)
    unread = sum(len(process.lines) for process in left_out)
    how = SEPARATE.format(len(members)) + (LEFT_OUT.format(unread) if unread else "")
    return AsWritten(texts, how, writers=writers)


def times_outside(lines: Sequence[str], chain: Chain, dialect: Dialect) -> list[int]:
    """Return the times that envelopes give to the first lines."""
    return [inner.time for inner in opened(lines[:SAMPLE], chain, dialect) if inner and inner.time is not None]


def opened(lines: Sequence[str], chain: Chain, dialect: Dialect) -> list[Inner | None]:
    """Return what each line holds inside its envelopes, None where that is not one line."""
    reader = Reader(chain, lambda text: speaker_of(text, dialect) is not None)
    found = (list(reader.read(number, line)) for number, line in enumerate(lines if chain else (), 1))
    return [inside[0] if len(inside) == 1 and isinstance(inside[0], Inner) else None for inside in found]
