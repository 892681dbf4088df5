"""Nights as files: what the nodes of :mod:`benchmarks.years` log, as brokers write it.

Each line that is an event of the story stands among many of no interest, taken from the bundled real logs.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

from benchmarks.landing import STAMP, real_lines
from benchmarks.load import SCENARIO, SEED, STREAM, TERMS_A_STORY, Calendar
from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.model.events import Event
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import logs_of
from election_replay.election_core.simulate.scenario import BEGAN_US, played

TERMS = re.compile(r'((?:\bterm|currTerm|maxTerm)"?[=:]? ?|INCREASE_TERM\] from |watermarks=\{)(\d+)')
"""A term in a line, after what says that it is one."""
INCREASED = re.compile(r"(INCREASE_TERM\] from \d+ to )(\d+)")


class NightLogs:
    """Writes the files of nights; ``lines`` of each node, with what is said in that night of the ``calendar``."""

    def __init__(self, calendar: Calendar, lines: int) -> None:
        self._calendar, self._lines = calendar, lines
        self._others = [text for text in real_lines()[1] if " main - " not in text]
        dialect = dialect_for(STREAM)
        assert dialect is not None  # noqa: S101 - the name of the stream is ours
        self._zone = timedelta(minutes=dialect.utc_offset_minutes)
        self._text: dict[str, str] = {}
        for (_, stream), logged in logs_of(played(SCENARIOS[SCENARIO], SEED)).items():
            for line in logged if stream == STREAM else ():
                event = dialect.parse(Record(line, (), stream, dialect.utc_offset_minutes))
                if event is not None:
                    self._text[what_it_says(event)] = line[len("2026-03-01 10:00:00") :]

    def write(self, node: Path, member: str, group: str, night: int, since: int) -> int:
        """The file of a member of a group that elected in the night ``since``; how many lines it has."""
        of_night = self._calendar.told(night)
        told = (of_night.elects if since == night else of_night.lives)[member]
        node.mkdir(parents=True, exist_ok=True)
        lines = [*self._of_night(told, group, night, since)]
        (node / STREAM).write_text("".join(lines))
        return len(lines)

    def _of_night(self, told: list[Event], group: str, night: int, since: int) -> Iterator[str]:
        others, later_us = cycle(self._others), self._calendar.began_us(night) - BEGAN_US
        for number, event in enumerate(told):
            time = datetime.fromtimestamp((event.event_time + later_us) / 1_000_000, UTC)
            stamp = (time + self._zone).strftime(STAMP)
            text = self._text.get(what_it_says(event))
            if text is not None:
                yield stamp + in_term(text.replace("RaftNode00", group), since * TERMS_A_STORY) + "\n"
            more = self._lines * (number + 1) // len(told) - self._lines * number // len(told) - (text is not None)
            yield from (f"{stamp}{other}\n" for other in islice(others, max(more, 0)))


def what_it_says(event: Event) -> str:
    """All of an event but for its time."""
    return repr(replace(event, event_time=BEGAN_US))


def in_term(text: str, more: int) -> str:
    """A line with larger terms."""
    larger = TERMS.sub(lambda found: f"{found[1]}{int(found[2]) + more}", text)
    return INCREASED.sub(lambda found: f"{found[1]}{int(found[2]) + more}", larger)
