"""Rows as text for people, and parsing of their input: the same in terminal, report and dashboard."""

import json
import re
import sys
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from election_replay.election_core.judge.wording import between, number_of
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
"""The width of our own sentences if the output is not a terminal."""
NARROWEST, WIDEST = 80, 200
"""The least and greatest width on a terminal."""

DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d")
"""An ISO 8601 date."""

NUMBER_AND_UNIT = re.compile(r"(\d) (s|min|bytes)\b")
"""A number with its unit, which is not broken across lines."""

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""First characters of formulas in spreadsheets, with full-width forms."""

FOREVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))
"""The first and last time of queries: a day inside Python's range, so that any zone can show them."""

SEVERITIES = ("critical", "warning", "info")

Row = dict[str, Any]

MEASURES = [column for column in TABLES["findings"].columns if column.type == BIGINT]
"""The columns of findings with measured values."""

REPEATS = {"offset_before": "cut_to", "offset_after": "cut_from"}
"""Measured columns, each with another one that may have the same value."""

LOSSES = (
    ("messages_lost", ("message", "messages"), ("was cut off", "were cut off")),
    ("bytes_lost", ("byte of messages", "bytes of messages"), ("was cut off", "were cut off")),
    ("entries_lost", ("committed entry", "committed entries"), ("was lost", "were lost")),
)
"""The columns of losses, each with its unit and the phrase for data cut off a log, of one and of several."""
ELSEWHERE = {
    "queues": ("is in no queue", "are in no queue"),
    "one_side": ("exists on one side only", "exist on one side only"),
}
"""Phrases for data that is still in a log, of one and of several."""


def harmless(text: str, keep: str = "\t") -> str:
    """Return ``text`` with control characters other than ``keep`` escaped, so that it cannot command a terminal."""
    return "".join(
        character if character.isprintable() or character in keep else repr(character)[1:-1] for character in text
    )


def harmless_json(text: str) -> str:
    """Return equivalent JSON with control and bidirectional characters escaped."""
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1] for character in text
    )


def no_formula(value: Any) -> str:
    """Return a value as text; if a spreadsheet would take it for a formula, with an apostrophe before it."""
    text = cell(value)
    return f"'{text}" if text[:1] in FORMULA and not isinstance(value, (int, float, Decimal)) else text


def cell(value: Any) -> str:
    """Return a value as text: times in ISO form, lists and maps by their parts."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").replace("+00:00", "Z")
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}={cell(part)}" for name, part in value.items())
    return str(value)


def moment(text: str | None) -> datetime | None:
    """Parse a time as typed, in UTC unless it has an offset. Raises :class:`~jobs.JobError` for other text."""
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
    """Return ``at + by``, limited to :data:`FOREVER`."""
    try:
        return min(max(at + by, FOREVER[0]), FOREVER[1])
    except OverflowError:
        return FOREVER[by > timedelta(0)]


def end_moment(text: str | None) -> datetime | None:
    """Parse the end of a window as typed; a day without a time of day means its last microsecond."""
    found = moment(text)
    if found is None or text is None or not DAY.fullmatch(text.strip()):
        return found
    return shifted(found, timedelta(days=1) - timedelta(microseconds=1))


def spoken(code: str) -> str:
    """Return a code as words."""
    return code.replace("_", " ")


def clock(at: datetime) -> str:
    """Return the time of day, with milliseconds unless they are zero."""
    return f"{at:%H:%M:%S}" + (f".{at.microsecond // 1000:03d}" if at.microsecond else "")


def seconds(ms: int) -> str:
    """Return a duration in ms as text."""
    return duration(ms * 1000)


def some(names: list[str], at_most: int = 20) -> str:
    """Return up to ``at_most`` names as text, with the number of further ones."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return (", ".join(names[:at_most]) + more) or "nothing"


@cache
def nouns(protocol: str) -> tuple[str, str]:
    """Return the protocol's words for its logical clock and its leader."""
    from election_replay.election_core.dialects import SYSTEMS  # slow to import, and not needed on a usual night

    for system in SYSTEMS:
        for spoken in system.protocols:
            if spoken.protocol == protocol:
                return spoken.clock, spoken.leader
    return "term", "leader"


def term_word(protocol: str) -> str:
    """Return the protocol's word for its logical clock, such as term or epoch."""
    return nouns(protocol)[0]


def leader_word(protocol: str) -> str:
    """Return the protocol's word for its leader."""
    return nouns(protocol)[1]


def role_word(role: str, protocol: str) -> str:
    """Return the protocol's word for a role."""
    leader = leader_word(protocol)
    return {"leader": leader, "acting_leader": f"acting {leader}", "unknown": "not known"}.get(role, spoken(role))


def when(row: Row) -> str:
    """Return a row's interval as text; one time if start and end are the same."""
    start, end = row["start_time"], row["end_time"]
    begin = f"{start:%Y-%m-%d} {clock(start)}"
    if end is None:
        return f"{begin} to the end of the logs"
    return begin if clock(end) == clock(start) and end.date() == start.date() else span(start, end)


def span(begin: datetime, end: datetime) -> str:
    """Return an interval as text; the end has a day only if it differs from the start's."""
    day = "" if begin.date() == end.date() else f"{end:%Y-%m-%d} "
    return f"{begin:%Y-%m-%d} {clock(begin)} to {day}{clock(end)}"


def certainty(row: Row) -> str:
    """Return text about a finding's certainty and its basis."""
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


def measures(row: Row, but: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (meaning, value) of the measured columns of a finding, without those in ``but``."""
    for column in MEASURES:
        value, same = row[column.name], REPEATS.get(column.name)
        if value is not None and column.name not in but and (same is None or row[same] != value):
            shown = seconds(value) if column.unit == "ms" else f"{value:,} {column.unit or ''}".rstrip()
            yield column.comment.removesuffix(".").replace("`unit`", row.get("unit") or "its own unit"), shown


def surely(row: Row) -> str:
    """Return severity and certainty as text."""
    return f"{row['severity']} ({row['certainty']})"


def lost(row: Row) -> Iterator[str]:
    """Yield phrases about a finding's losses and repeated messages."""
    for column, unit, loss in LOSSES:
        if row[column]:
            yield loss_in_words(row[column], unit, ELSEWHERE.get(row["lost_from"] or "", loss))
    if row["messages_repeated"]:
        yield messages_repeated(row["messages_repeated"])


def loss_in_words(count: int, unit: tuple[str, str], happened: tuple[str, str]) -> str:
    """Return how many of a unit something happened to; the words of each for one and for several."""
    several = count != 1
    return f"{count:,} {unit[several]} {happened[several]}"


def messages_repeated(count: int) -> str:
    """Return a phrase about repeated messages."""
    return f"{number_of(count, 'message')} may be consumed again"


def in_phrases(row: Row) -> set[str]:
    """Return the measured columns that the phrases of :func:`lasting` and :func:`lost` tell."""
    lasts = next((pair for pair in LASTING if any(row[name] is not None for name in pair)), ())
    return {*lasts, *(column for column, _, _ in LOSSES), "messages_repeated"}


LASTING = (("overlap_min_ms", "overlap_max_ms"), ("duration_min_ms", "duration_max_ms"))


def lasting(row: Row) -> str:
    """Return a finding's duration as text; empty if unknown."""
    for least, most in LASTING:
        if row[least] is not None or row[most] is not None:
            low, high = row[least] or 0, row[most]
            return f"at least {seconds(low)}" if high is None else between(low * 1000, high * 1000)
    start, end = row["start_time"], row["end_time"]
    return "" if end is None or end == start else duration((end - start) // timedelta(microseconds=1))


def undecidable(row: Row) -> str:
    """Return a row of ``rule_coverage`` as a sentence about the limits of a verdict."""
    judged = [
        f"{word} {times(row[name])}" for name, word in (("conforms", "kept"), ("violates", "broken")) if row[name]
    ]
    was = f" was {' and '.join(judged)}" if judged else ""
    if not row["undecidable"]:
        return f"{row['rule']}{was}, and could be judged each time." if was else f"{row['rule']} was never asked."
    why = f": {row['why_undecidable']}" if row["why_undecidable"] else ""
    return f"{row['rule']}{was}{', and' if was else ''} could not be judged {times(row['undecidable'])}{why}."


def times(count: int) -> str:
    """Return ``once``, or for example ``3 times``."""
    return "once" if count == 1 else f"{count:,} times"


def spoken_ms(ms: int) -> str:
    """Return a number of ms as text, in seconds if they are whole."""
    return f"{ms // MS_PER_SECOND} s" if ms % MS_PER_SECOND == 0 else f"{ms} ms"


def columns() -> int:
    """Return the width for our own sentences: the terminal's, within bounds, or :data:`COLUMNS` without one."""
    if not sys.stdout.isatty():
        return COLUMNS
    return min(max(get_terminal_size((COLUMNS, 24)).columns, NARROWEST), WIDEST)


def paragraph(text: str, indent: str = "", hanging: str | None = None) -> list[str]:
    """Return ``text`` as lines that fit the terminal."""
    rest = indent if hanging is None else hanging
    bound = NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)
    lines = wrap(bound, columns(), initial_indent=indent, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [indent]
