"""Writes what a log says in another layout, as the loggers themselves would: the opposite of reading a layout."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from election_replay.election_core.dialects.etcd import dialect as etcd
from election_replay.election_core.dialects.parts import Line
from election_replay.election_core.dialects.rocketmq import dialect as rocketmq
from election_replay.election_core.dialects.zookeeper import dialect as zookeeper

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


@dataclass(frozen=True)
class Said:
    """One record: its first line's parts, and the undated lines behind it. ``at`` is microseconds of its local time."""

    at: int
    level: str
    thread: str
    logger: str
    message: str
    more: tuple[str, ...] = ()
    fields: tuple[tuple[str, object], ...] = ()


def records(system: str, lines: list[str]) -> list[Said]:
    """The records of a real log in the system's own layout; what stands before the first one is left out."""
    found: list[Said] = []
    for text in lines:
        line = own(system, text)
        if line is not None:
            level, thread = (line.level or "INFO").strip().upper(), line.thread or "main"
            logger = line.logger or "RocketmqBroker"
            fields = tuple(line.fields.items())
            found.append(Said(line.time(0)[0], level, thread, logger, line.message, (), fields))
        elif found:
            found[-1] = Said(*astuple_but_more(found[-1]), (*found[-1].more, text), found[-1].fields)
    return found


def astuple_but_more(said: Said) -> tuple[int, str, str, str, str]:
    return said.at, said.level, said.thread, said.logger, said.message


def own(system: str, text: str) -> Line | None:
    """The parts of a line in the system's own layout."""
    if system == "rocketmq":
        found = re.match(rf"{rocketmq.TIME} ([A-Z]+) (.+?) - (.*)", text, re.DOTALL)
        if found is None:
            return None
        time, fraction, level, thread, message = found.groups()
        return Line(lambda zone: rocketmq.moment(time, fraction, zone), level, thread, None, None, message)
    if system == "zookeeper":
        return zookeeper.line_of(text)
    return etcd._json_line(text) if text.startswith("{") else etcd._text_line(text)


def date(pattern: str, at: int, zone: int = 0) -> str:
    """A time as ``SimpleDateFormat`` writes it; ``zone`` is what a zone letter prints, in minutes."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    sign, hours, minutes = "-" if zone < 0 else "+", *divmod(abs(zone), 60)
    if pattern in ("", "ISO8601", "DEFAULT"):
        pattern = "yyyy-MM-dd HH:mm:ss,SSS"
    if pattern in ("UNIX", "UNIX_MILLIS"):
        return str((at - zone * 60_000_000) // (1_000_000 if pattern == "UNIX" else 1000))

    def piece(found: re.Match[str]) -> str:
        quoted, letter = found.group(1), found.group(2)
        if letter is None:
            return quoted if quoted is not None else found.group()
        width = len(found.group())
        fraction = f"{moment.microsecond:06}000"[:width]
        return {
            "y": f"{moment:%Y}" if width != 2 else f"{moment:%y}",
            "M": MONTHS[moment.month - 1] if width > 2 else f"{moment.month:0{width}}",
            "d": f"{moment.day:0{width}}",
            "H": f"{moment.hour:0{width}}",
            "h": f"{(moment.hour - 1) % 12 + 1:0{width}}",
            "m": f"{moment:%M}",
            "s": f"{moment:%S}",
            "S": fraction,
            "a": "PM" if moment.hour >= 12 else "AM",
            "X": "Z"
            if not zone
            else f"{sign}{hours:02}:{minutes:02}"
            if width == 3
            else f"{sign}{hours:02}{minutes:02}",
            "Z": f"{sign}{hours:02}{minutes:02}",
            "z": "UTC" if not zone else f"GMT{sign}{hours:02}:{minutes:02}",
            "E": DAYS[moment.weekday()],
        }[letter]

    return re.sub(r"'([^']*)'|([A-Za-z])\2*", piece, pattern)


def laid_out(pattern: str, said: Said, number: int, zone: int = 0, **context: str) -> str:
    """A record in a layout, with its undated lines."""

    def field(found: re.Match[str]) -> str:
        width, word, option = found.group(1), found.group(2), found.group(3) or ""
        value = {
            "d": lambda: date(option, said.at, zone),
            "t": lambda: said.thread,
            "p": lambda: said.level,
            "c": lambda: said.logger.rpartition(".")[2] if option == "1" else said.logger,
            "C": lambda: said.logger.rpartition(".")[2],
            "L": lambda: str(number),
            "F": lambda: "Main.java",
            "M": lambda: "run",
            "X": lambda: context.get(option, "") if option else "{traceId=4bf92f3577b34da6, spanId=00f067aa}",
            "x": lambda: "",
            "pid": lambda: "4711",
            "m": lambda: said.message,
            "n": lambda: "",
        }[word]()
        blanks = int(width) if width else 0
        return value.ljust(-blanks) if blanks < 0 else value.rjust(blanks)

    line = re.sub(r"%(-?\d*)(pid|[dtpcCLFMXxmn])(?:\{([^}]*)\})?", field, pattern)
    return "\n".join([line, *said.more]) + "\n"
