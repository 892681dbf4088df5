"""Rows as words for people, and times from them: the same in terminal, report and dashboard."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from election_replay.election_core.judge.wording import between
from election_replay.election_core.judge.wording import listed as listed
from election_replay.election_core.judge.wording import name_of as name_of
from election_replay.election_core.judge.wording import seconds as duration
from election_replay.election_core.model.catalogue import DEFINITE, PROVEN
from election_replay.election_core.model.timing import MS_PER_SECOND
from election_replay.jobs import JobError
from election_replay.jobs.runbook.rules import catalogue
from election_replay.schemas import TABLES
from election_replay.schemas.model import BIGINT

COLUMNS = 100
"""Columns that our own sentences keep to where they are not for a terminal."""
NARROWEST, WIDEST = 80, 200
"""The columns of a terminal that they keep to."""

DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d")
"""A day as ISO writes it."""

NUMBER_AND_UNIT = re.compile(r"(\d) (s|min|bytes)\b")
"""What no line is broken in."""

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""What a formula begins with in a spreadsheet, wide forms too."""

FOREVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))
"""The first and the last time that is asked for: a day within what Python can tell, in whatever zone."""

SEVERITIES = ("critical", "warning", "info")

Row = dict[str, Any]

MEASURES = [column for column in TABLES["findings"].columns if column.type == BIGINT]
"""The columns of a finding that measure it."""

LOSSES = (
    ("messages_lost", "messages", "were cut off"),
    ("bytes_lost", "bytes of messages", "were cut off"),
    ("entries_lost", "committed entries", "were lost"),
)
"""The columns that tell of a loss, each with its unit and what became of what was in a log."""
ELSEWHERE = {"queues": "are in no queue", "one_side": "exist on one side only"}
"""What became of bytes that are still in a log."""
REPEATED = "messages may be consumed again"

OWN_NOUNS = {"controller": ("epoch", "master"), "zab": ("epoch", "leader"), "acting_master": ("term", "master")}
"""What protocols without a row call their logical clock and the one who decides, but for term and leader."""


def harmless(text: str, keep: str = "\t") -> str:
    """``text`` without control characters other than ``keep``: a log line must command neither terminal nor browser."""
    return "".join(
        character if character.isprintable() or character in keep else repr(character)[1:-1] for character in text
    )


def harmless_json(text: str) -> str:
    """JSON that means the same, without characters that would command a terminal or turn its lines around."""
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1] for character in text
    )


def no_formula(value: Any) -> str:
    """A value as text that no spreadsheet takes for a formula: what begins like one gets an apostrophe before it."""
    text = cell(value)
    return f"'{text}" if text[:1] in FORMULA and not isinstance(value, (int, float, Decimal)) else text


def cell(value: Any) -> str:
    """A value as text: times in ISO form, lists and maps by their parts."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").replace("+00:00", "Z")
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}={cell(part)}" for name, part in value.items())
    return str(value)


def moment(text: str | None) -> datetime | None:
    """A time as typed, UTC unless it says otherwise. Raises :class:`~jobs.JobError` for anything else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        raise JobError(f"{text} is no time: write it like 2026-03-01T05:00") from None
    except OverflowError:
        raise JobError(f"{text} is before the year 1 or after the year 9999 in UTC") from None


def shifted(at: datetime, by: timedelta) -> datetime:
    """A time moved, to the first or the last one that there is if it would lie beyond."""
    try:
        return min(max(at + by, FOREVER[0]), FOREVER[1])
    except OverflowError:
        return FOREVER[by > timedelta(0)]


def end_moment(text: str | None) -> datetime | None:
    """The end of a time as typed: of a day without a time of day, its last moment, as with nights."""
    found = moment(text)
    if found is None or text is None or not DAY.fullmatch(text.strip()):
        return found
    return shifted(found, timedelta(days=1) - timedelta(microseconds=1))


def spoken(code: str) -> str:
    """A code as words."""
    return code.replace("_", " ")


def clock(at: datetime) -> str:
    """The time of day, with milliseconds where there are any."""
    return f"{at:%H:%M:%S}" + (f".{at.microsecond // 1000:03d}" if at.microsecond else "")


def seconds(ms: int) -> str:
    """Milliseconds as a person says them."""
    return duration(ms * 1000)


def some(names: list[str]) -> str:
    """Names as one text, not too many of them."""
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return (", ".join(names[:20]) + more) or "nothing"


@cache
def nouns(protocol: str) -> tuple[str, str]:
    """What the protocol calls its logical clock, and the one who decides."""
    if protocol in OWN_NOUNS:
        return OWN_NOUNS[protocol]
    from election_replay.election_core.dialects import SYSTEMS  # a thousand texts, which a quiet night never needs

    for system in SYSTEMS:
        for spoken in system.protocols:
            if spoken.protocol == protocol:
                return spoken.clock, spoken.leader
    return "term", "leader"


def term_word(protocol: str) -> str:
    """What the protocol calls its logical clock."""
    return nouns(protocol)[0]


def leader_word(protocol: str) -> str:
    """What the protocol calls the one who decides."""
    return nouns(protocol)[1]


def role_word(role: str, protocol: str) -> str:
    """What the protocol calls a role."""
    leader = leader_word(protocol)
    return {"leader": leader, "acting_leader": f"acting {leader}", "unknown": "not known"}.get(role, spoken(role))


def when(row: Row) -> str:
    """From when to when; a moment where that is the same."""
    start, end = row["start_time"], row["end_time"]
    begin = f"{start:%Y-%m-%d} {clock(start)}"
    if end is None:
        return f"{begin} to the end of the logs"
    return begin if clock(end) == clock(start) and end.date() == start.date() else span(start, end)


def span(begin: datetime, end: datetime) -> str:
    """From when to when; the day is told again where it is another one."""
    day = "" if begin.date() == end.date() else f"{end:%Y-%m-%d} "
    return f"{begin:%Y-%m-%d} {clock(begin)} to {day}{clock(end)}"


def certainty(row: Row) -> str:
    """How sure a finding is, and what that rests on."""
    if row["certainty"] == PROVEN:
        word = term_word(row["protocol"])
        terms = f"{word}{'s' if len(row['terms']) > 1 else ''} {listed(row['terms'])}" if row["terms"] else word + "s"
        return f"proven: {catalogue()[row['rule']].proven_by.format(terms=terms)}"
    if row["certainty"] == DEFINITE:
        least = row["overlap_min_ms"] or row["duration_min_ms"]
        return "definite: so for every reading of the clocks inside their bounds" + (
            f", by at least {seconds(least)}" if least else ""
        )
    return "possible: the logs fit it, but do not show it for sure"


def measures(row: Row) -> Iterator[tuple[str, str]]:
    """What was measured, each with its value."""
    for column in MEASURES:
        value = row[column.name]
        if value is not None:
            shown = seconds(value) if column.unit == "ms" else f"{value:,} {column.unit or ''}".rstrip()
            yield column.comment.removesuffix(".").replace("`unit`", row.get("unit") or "its own unit"), shown


def surely(row: Row) -> str:
    """Severity and certainty, which are told together."""
    return f"{row['severity']} ({row['certainty']})"


def lost(row: Row) -> Iterator[str]:
    """What a finding says was lost, or comes again."""
    for column, unit, loss in LOSSES:
        if row[column]:
            yield f"{row[column]:,} {unit} {ELSEWHERE.get(row['lost_from'] or '', loss)}"
    if row["messages_repeated"]:
        yield f"{row['messages_repeated']:,} {REPEATED}"


def lasting(row: Row) -> str:
    """How long what a finding tells of lasted; empty where that is not known."""
    for least, most in (("overlap_min_ms", "overlap_max_ms"), ("duration_min_ms", "duration_max_ms")):
        if row[least] is not None or row[most] is not None:
            low, high = row[least] or 0, row[most]
            return f"at least {seconds(low)}" if high is None else between(low * 1000, high * 1000)
    start, end = row["start_time"], row["end_time"]
    return "" if end is None or end == start else duration((end - start) // timedelta(microseconds=1))


def undecidable(row: Row) -> str:
    """What one row of ``rule_coverage`` says about the limits of a verdict."""
    judged = [
        f"{word} {times(row[name])}" for name, word in (("conforms", "kept"), ("violates", "broken")) if row[name]
    ]
    was = f" was {' and '.join(judged)}" if judged else ""
    if not row["undecidable"]:
        return f"{row['rule']}{was}, and could be judged each time." if was else f"{row['rule']} was never asked."
    why = f": {row['why_undecidable']}" if row["why_undecidable"] else ""
    return f"{row['rule']}{was}{', and' if was else ''} could not be judged {times(row['undecidable'])}{why}."


def times(count: int) -> str:
    """``once``, ``3 times``."""
    return "once" if count == 1 else f"{count:,} times"


def spoken_ms(ms: int) -> str:
    """Milliseconds in the unit in which a person says them."""
    return f"{ms // MS_PER_SECOND} s" if ms % MS_PER_SECOND == 0 else f"{ms} ms"


def columns() -> int:
    """How wide our own sentences are: as the terminal is, if they go to one; log lines are left whole where said so."""
    if not sys.stdout.isatty():
        return COLUMNS
    return min(max(get_terminal_size((COLUMNS, 24)).columns, NARROWEST), WIDEST)


def paragraph(text: str, indent: str = "", hanging: str | None = None) -> list[str]:
    """``text`` in lines that fit the terminal."""
    rest = indent if hanging is None else hanging
    bound = NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)
    lines = wrap(bound, columns(), initial_indent=indent, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [indent]
