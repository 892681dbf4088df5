"""Rewrites exports of log stores whose lines are not lines of a log: one array of JSON, objects over many lines, a
table of columns, several objects on a line; copies of screens and pages; texts of several members. Their lines are
taken out of them where they are landed.

Kibana and Splunk export tables (CSV), Grafana an array; Elasticsearch, Loki, CloudWatch and Splunk answer searches with
one object that holds all lines.
"""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from election_replay.election_core.dialects import speaker_of
from election_replay.election_core.envelopes.model import Broken
from election_replay.election_core.envelopes.objects import opened
from election_replay.election_core.model import digits
from election_replay.election_core.model.streams import unpacked
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.copied import (
    NO_BREAK,
    is_page,
    rejoined,
    text_of_page,
    unbroken,
    width,
    without_page_ends,
    words_within,
)
from election_replay.jobs.landing.heads import head_found
from election_replay.jobs.landing.landing_zone import LandingZone
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.pasted import DUMPED, members_of
from election_replay.jobs.landing.recognising import of_kubernetes
from election_replay.jobs.landing.written_times import stamp
from election_replay.jobs.landing.years import with_days, with_years, without_day, without_year
from election_replay.jobs.settings.config import Config

LOOKED_AT = 1 << 18
"""How many bytes of a file's beginning are looked at to tell whether it is an export."""

LARGEST = 256 << 20
"""A file of more bytes than this, decompressed, is not rewritten: it would be held in memory."""

TEXTS = ("message", "_raw", "@message", "line", "log", "msg", "body", "content", "text")
TIMES = ("@timestamp", "_time", "timestamp", "time", "date")
NODES = (
    *("kubernetes.pod.name", "kubernetes.pod_name", "pod", "podname", "pod_name", "container.name", "host.name"),
    *("host.hostname", "hostname", "host", "node", "instance", "@logstream", "logstreamname", "source"),
)
"""The names, in small letters, of columns that hold the line, its time and its node; the first that is there counts."""

SAMPLE = 2_000
"""How many lines are looked at to tell whether a screen broke them, and whether their times have a year and a day."""

FEW = 50
"""A column that holds the nodes of a cluster has fewer values than this."""

SEVERAL = 20
"""How many objects are looked at to tell whether they hold lines."""

_PRETTY = re.compile(r"(?:\ufeff)?\s*(?:\[\s*[\[{]|\{[ \t\r]*\n\s*\")")
_HEADING = re.compile(r'\ufeff?"?(?:@|[^\W\d])[\w.@ ]{0,60}"?(?:[,;\t]"?(?:@|[^\W\d])[\w.@ ]{0,60}"?){1,60}\r?\n')
_MARKDOWN = re.compile(r"^\|(?:[^|\n]{1,80}\|){2,60}[ \t]*\r?\n\|(?:[ \t]*:?-{2,}:?[ \t]*\|){2,60}", re.MULTILINE)
_MARGIN = re.compile(r"(?:[ \t]|[>|] )*")
_QUOTED = re.compile(r"[ \t]{0,4}(?:>[ \t]?)+")
"""The marks of a quotation before a line."""
_ITEM = re.compile(r"[ \t]{0,8}(?:(?:[-*+\u2022]|\d{1,3}[.)]) )?`(?P<line>[^`]+)`[ \t]*")
"""A line as a span of code, which may be an item of a list."""
_TYPOGRAPHIC = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'"})
"""Quotation marks as programs for letters set them."""
_GERMAN = re.compile(r"^(\W{0,3})(\d\d)\.(\d\d)\.(\d{4})[ T,]{1,2}(?=\d\d:\d\d:\d\d)", re.ASCII)
"""A date as German, Russian and other people write it; a date with slashes is of unknown order."""
_BAR = re.compile(r"(?<!\\)\|")
_ANSWER = re.compile(r'(?:\ufeff)?\s*\{\s*"(?:hits|took|events|results|data|status)"\s*:')
_GLUED = re.compile(r'(?<=\})[ \t]*(?=\{"(?:level|ts|time|log|timestamp|@timestamp|caller|msg)" ?:)')
_LABELED = re.compile(r'(?:\S{10,40}[ \t]+)?\{(?:\w+="[^"]*",? ?)*\}[ \t]*\{', re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)\Z")


def known_inside(file: LogFile, zone: LandingZone, config: Config) -> bool:
    """Return True when the lines of a known system can be taken out of a file that cannot be read as it is."""
    blocks = Blocks(zone, file.path, file.size)
    beginning = text_of(blocks.peek(LOOKED_AT))
    if not may_be_rewritten(beginning, file):
        return False
    parts, _ = rewritten(text_of(blocks.peek(LARGEST)) if is_json(beginning) else beginning, file)
    return any(head_found(file, as_bytes(lines)[:LOOKED_AT], config).dialect is not None for _, lines in parts)


def text_of(data: bytes) -> str:
    """Return bytes as a text without a byte order mark; bytes that are no UTF-8 are surrogates in it."""
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def as_bytes(lines: Sequence[str]) -> bytes:
    """Return lines as the bytes of a file."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def may_be_rewritten(beginning: str, file: LogFile) -> bool:
    """Return True for a file that, by its beginning, cannot be read as it is."""
    lines, _ = as_written(beginning, file)
    return lines is not None or is_json(beginning) or bool(members_of(beginning.splitlines(), unpacked(file.name)))


def rewritten(text: str, file: LogFile) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Return the (path, lines) of each log in the text of a file, and what is assumed of its lines; no log where the
    lines need not or cannot be rewritten."""
    lines, assumed = as_written(text, file)
    if lines is None and is_json(text[:LOOKED_AT]) and DUMPED not in text:
        return [], []
    lines = text.splitlines() if lines is None else lines
    members = members_of(lines, unpacked(file.name))
    if members:
        assumed.append(f"its headings name {len(members)} logs: each is read apart")
    return members or [(unpacked(file.name), lines)], assumed


def as_written(text: str, file: LogFile) -> tuple[list[str] | None, list[str]]:
    """Return the lines in the text of a file as a system wrote them, None if they stand so already or are not found,
    and what is assumed of them. No year and no day is assumed for a file that may grow: the next landing would assume
    another one."""
    beginning = text[:LOOKED_AT]
    if is_json(beginning):
        return lines_of_json(text), []
    if is_table(beginning):
        return [as_line(row) for row in rows_of_table(text)], []
    lines, assumed = restored(text)
    changed = is_page(beginning) or NO_BREAK in beginning or any(map(is_quotation, beginning.splitlines()))
    sample = lines[:SAMPLE]
    if any(map(is_glued, sample)):
        lines, changed = [part for line in lines for part in (_GLUED.split(line) if is_glued(line) else [line])], True
    stamped = with_times(sample)
    if margin := margin_of(stamped):
        lines, changed = [line.removeprefix(margin) for line in lines], True
        sample = lines[:SAMPLE]
    if len(stamped) > SEVERAL and all(line.endswith(",") for line in stamped):
        lines, changed = [line.removesuffix(",") for line in lines], True
    for lacks, dated in ((without_year, with_years), (without_day, with_days)):
        if file.complete and lacks(sample) and not of_kubernetes(beginning):
            lines, how = dated(lines, file.modified, file.day)
            assumed.append(how)
    return (lines if changed or assumed else None), assumed


def is_glued(line: str) -> bool:
    """Return True for a line of several objects; what stands before an object may be the labels of ``logcli``."""
    return _GLUED.search(line) is not None and _LABELED.match(line) is None


def restored(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text as they were before somebody copied them from a page, a mail or a screen, and what is
    assumed of them."""
    assumed = []
    lines = (text_of_page(text) if is_page(text[:LOOKED_AT]) else text.replace(NO_BREAK, " ")).splitlines()
    if any(map(is_quotation, lines[:SAMPLE])):
        lines = [_QUOTED.sub("", line) for line in lines]
    dated = with_times(lines[:SAMPLE])
    for taken_off, how in _TAKEN_OFF.items():
        found = sum(taken_off(line) is not None for line in dated)
        if 2 * found > len(dated) or (found and taken_off is _of_span):
            lines = [line if (inner := taken_off(line)) is None else inner for line in lines]
            dated = with_times(lines[:SAMPLE])
            assumed.append(how)
    if dated and len(whole := without_page_ends(lines)) < len(lines):
        lines = whole
        assumed.append("its pages are joined")
    for broken, joined in ((words_within, rejoined), (width, unbroken)) if dated else ():  # nodes.conf has no times
        if columns := broken(lines[:SAMPLE]):
            lines = joined(lines, columns)
            assumed.append(f"its lines are broken at {columns} columns: they are joined")
    written = [line for line in lines[:SAMPLE] if line.strip()]
    if 2 * sum(_GERMAN.match(line) is not None for line in written) > len(written):
        lines = [_GERMAN.sub(r"\1\4-\3-\2 ", line) for line in lines]
        assumed.append("its dates are read as day.month.year")
    return lines, assumed


def with_times(lines: Sequence[str]) -> list[str]:
    """Return the lines that have a time."""
    return [line for line in lines if stamp(line) is not None]


def _of_span(line: str) -> str | None:
    found = _ITEM.fullmatch(line)
    return found and found["line"]


def _of_row(line: str) -> str | None:
    """Return what stands in a row of a table behind a cell with nothing but a time, which has no heading."""
    found = [cell for cell in cells(line) if cell] if _BAR.match(line.lstrip()) else []
    return " | ".join(found[1:]) if len(found) > 1 and _ONLY_A_TIME.fullmatch(found[0]) else None


def _of_letter(line: str) -> str | None:
    plain = line.translate(_TYPOGRAPHIC)
    return plain if plain != line else None


_NODE = re.compile(r"[A-Za-z][\w.-]{0,80}", re.ASCII)
_ONLY_A_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_TAKEN_OFF: Mapping[Callable[[str], str | None], str] = {
    _of_span: "its lines are spans of code",
    _of_row: "its lines are rows of a table without a heading",
    _of_letter: "its quotation marks are read as plain ones",
}


def is_quotation(line: str) -> bool:
    """Return True for a line with a time that stands in a quotation."""
    return _QUOTED.match(line) is not None and stamp(line) is not None


def margin_of(lines: Sequence[str]) -> str:
    """Return the blanks, or marks of a quotation, with which all of these lines begin."""
    margins = {found[0] for line in lines if (found := _MARGIN.match(line))}
    return min(margins, key=len) if len({line[: min(map(len, margins))] for line in lines}) == 1 else ""


def is_json(beginning: str) -> bool:
    """Return True when a file begins as an array of JSON, an object over many lines, or the answer to a search."""
    return bool(_PRETTY.match(beginning) or _ANSWER.match(beginning))


def is_table(beginning: str) -> bool:
    """Return True when a text begins with names of columns, or holds a Markdown table, and a column has a name of
    :data:`TEXTS` or holds lines of a known system."""
    first = _HEADING.match(beginning) or _MARKDOWN.search(beginning)
    if first is None:
        return False
    names = names_of(first[0].partition("\n")[0])
    return any(name in TEXTS for name in names) or "message" in by_content(names, beginning, len(names))


def by_content(names: Sequence[str], text: str, columns: int) -> list[str]:
    """Return the names of columns of a table in any language: ``message`` for the one that holds lines of a known
    system, ``host`` for the one that holds a few names, where no name is known."""
    rows = [row for row in islice(raw_rows(text), 1, SAMPLE) if any(row)]
    if any(name in TEXTS for name in names) or not rows or any(len(row) != columns for row in rows[:-1]):
        return [*names]
    values = [*zip(*(row for row in rows if len(row) == columns), strict=True)]
    found = [*names]
    of_lines = (at for at, column in enumerate(values) if 2 * sum(map(is_known_line, column)) > len(column))
    if (at := next(of_lines, None)) is not None:
        found[at] = "message"
        few = (at for at, column in enumerate(values) if 1 < len({*column}) < FEW and all(map(_NODE.fullmatch, column)))
        if not any(name in NODES for name in names) and (at := next(few, None)) is not None:
            found[at] = "host"
    return found


def is_known_line(text: str) -> bool:
    """Return True when a text begins a record of a known system."""
    return speaker_of(text) is not None


def names_of(heading: str) -> list[str]:
    """Return the names of columns in small letters."""
    if heading.startswith("|"):
        return [name.lower() for name in cells(heading)]
    return [name.strip().lower() for name in next(csv.reader([heading.strip()], delimiter=separator(heading)))]


def cells(row: str) -> list[str]:
    """Return the cells of a row of a table in Markdown."""
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(row.strip().strip("|"))]


def separator(heading: str) -> str:
    """Return the character that separates the columns: comma, semicolon or tab."""
    return max(",;\t", key=heading.count)


def rows_of_table(text: str) -> Iterator[Mapping[str, Any]]:
    """Return the rows of a table, each as values by the names of its columns."""
    rows = raw_rows(text)
    heading = [name.strip().lower() for name in next(rows)]
    names = by_content(heading, text, len(heading))
    return (dict(zip(names, row, strict=False)) for row in rows if row)


def raw_rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a table, those of its heading first."""
    if not _HEADING.match(text) and (found := _MARKDOWN.search(text)):
        yield cells(found[0].partition("\n")[0])
        yield from (cells(line) for line in text[found.end() :].splitlines() if line.startswith("|"))
        return
    csv.field_size_limit(LARGEST)
    yield from csv.reader(io.StringIO(text), delimiter=separator(text.partition("\n")[0]))


def lines_of_json(text: str) -> list[str] | None:
    """Return the objects in a text of JSON, each as a line; None where none of the first ones holds a line of a log.

    In messages of a chat, the lines are those that somebody pasted. Text behind the first damage is ignored.
    """
    decoder, at = json.JSONDecoder(), 0
    found: list[Mapping[str, Any]] = []
    while at < len(text):
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
        if at >= len(text):
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found += objects_in(value)
    if any(len(texts_in(row)) > 1 for row in found):  # messages of a chat
        return [line for row in found for line in texts_in(row) or [as_line(row)]]
    return [as_line(row) for row in found] if any(map(holds_a_line, found[:SEVERAL])) else None


def texts_in(row: Mapping[str, Any]) -> list[str]:
    """Return the lines that somebody pasted into a message; none unless several of them say when they were written."""
    text = next((value for name in TEXTS if isinstance(value := row.get(name), str)), "")
    lines = html.unescape(text).splitlines()
    return lines if len(with_times(lines)) > 1 else []


def holds_a_line(row: Mapping[str, Any]) -> bool:
    """Return True when an object is an entry of a log: settings and tables of a system are written over many lines
    too."""
    try:
        return is_a_line(row) or opened(json.loads(as_line(row))) is not None
    except Broken:
        return True


def is_a_line(row: Mapping[str, Any]) -> bool:
    """Return True when an object is itself what a logger writes."""
    return "msg" in row and ("ts" in row or "level" in row)


def objects_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of what a log store exports or answers."""
    if isinstance(value, list):
        for item in value:
            yield from objects_in(item)
    elif isinstance(value, dict):
        inner = value.get("hits", {}).get("hits") if isinstance(value.get("hits"), dict) else None
        data = value.get("data")
        streams = data.get("result") if isinstance(data, dict) else None
        several = inner or streams or value.get("events") or value.get("results")
        if isinstance(several, list):
            yield from objects_in(several)
        elif isinstance(value.get("values"), list) and isinstance(value.get("stream"), dict):  # Loki's
            for at, line, *_ in oldest_first(value["values"]):
                yield {**value["stream"], "timestamp": at, "line": line}
        else:
            yield value


def oldest_first(values: list[Any]) -> list[Any]:
    """Return Loki's (time, line) pairs of a stream from the oldest to the newest."""
    first, last = (digits.number(str(pair[0])) or 0 for pair in (values[0], values[-1])) if values else (0, 0)
    return values if first <= last else values[::-1]


def as_line(row: Mapping[str, Any]) -> str:
    """Return an entry as a JSON object on one line, with its time, node and text under names that are known.

    What a logger wrote, what has nested objects, and what has no text that is known stays as it is.
    """
    fields = row.get("fields")
    labels = fields if isinstance(fields, dict) else {}
    if is_a_line(row) or any(isinstance(value, dict) for name, value in row.items() if name != "fields"):
        return json.dumps(dict(row), ensure_ascii=False, separators=(",", ":"))
    by_name = {name.lower(): value for name, value in {**labels, **row}.items()}
    text = next((by_name[name] for name in TEXTS if isinstance(by_name.get(name), str)), None)
    if text is None:
        return json.dumps(dict(row), ensure_ascii=False)
    nodes = [by_name[name] for name in NODES if isinstance(by_name.get(name), str) and by_name[name]]
    node = next((name for name in nodes if not name.startswith("/")), None)  # Splunk's source is a file
    time = next((by_name[name] for name in TIMES if usable(by_name.get(name))), None)
    named = {"timestamp": time, "host": node, "message": text}
    return json.dumps({name: value for name, value in named.items() if value is not None}, ensure_ascii=False)


def is_entry(line: str) -> bool:
    """Return True for a line that :func:`as_line` made of an entry's time, node and text."""
    return line.startswith(('{"timestamp": ', '{"host": ', '{"message": '))


def usable(time: Any) -> bool:
    """Return True when a time tells its zone: ISO with a zone, or a number since 1970.

    Kibana writes times in its reader's zone, and does not say in which.
    """
    if isinstance(time, str):
        return digits.number(time) is not None or _ISO.match(time) is not None
    return isinstance(time, int | float)
