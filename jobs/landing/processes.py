"""Separate the processes of Redis whose lines stand in one file: servers and sentinels, joined, merged or pasted.

A line of Redis begins with its process: ``8773:M 26 Nov 2026 12:15:07.613 *``, with the letter ``X`` for a sentinel. No
line names the server. So a process is a server's restart only if it starts after the end of one other; where several
had ended, nobody knows whose it is, and its lines are left out. In containers all ids are small: a process whose time
goes back behind its beginning is another one with the same id. A sentinel and a server of Redis Cluster print their id
at a start, which decides. Without ids, a file of processes one behind the other is of one server, whose clock may have
been set, if another folder holds a file of the same name: then each folder is a server.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from election_replay.election_core.dialects.stamps import MONTHS
from election_replay.jobs.landing.listing import LogFile, Writer
from election_replay.jobs.landing.written_times import stamp

_LINE = re.compile(
    r"(?P<before>.{0,120}?)(?<![\w.:-])(?P<line>(?:(?P<pid>\d{1,7}):(?P<letter>[XMSC]) "
    r"|pid=(?P<id>\d{1,7}) role=(?P<role>[\w/]+) timestamp=\")\d.*)",
    re.ASCII | re.DOTALL,
)
_TIME = re.compile(
    r"\b(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{1,6})", re.ASCII
)
BEFORE_TEXT = 60
"""The time of a line ends within so many characters; later ones are of the text."""
_STARTS = re.compile(r"oO0OoO0OoO0Oo \w+ is starting")
_PRINTED_ID = re.compile(
    r"(?:Sentinel ID is|No cluster configuration found, I'm|Node configuration loaded, I'm) (\w{40})\b"
)
_NO_NAME = re.compile(r"(?<!\S)[\d:.,TZ/+-]+(?=\s|\Z)|\[\d{1,7}\]|[\s>|`]+", re.ASCII)
"""What may differ in what stands before lines of one file: times, numbers, the process in ``redis[8773]:``, marks of
quotations."""
_KINDS = {
    "X": "sentinel",
    "sentinel": "sentinel",
    "M": "server",
    "S": "server",
    "primary": "server",
    "replica": "server",
}


@dataclass(eq=False, slots=True)
class Process:
    """A process of Redis: its id, its kind (empty as long as it is not known), its first and last times, the numbers of
    its first and last line, and all its lines by their numbers. ``started``: its first line is that of a start.
    ``printed_id`` is what it calls itself, empty if it prints nothing."""

    pid: str
    kind: str
    begin: str
    first: int
    started: bool
    end: str = ""
    last: int = 0
    printed_id: str = ""
    lines: dict[int, str] = field(default_factory=dict)

    def takes(self, line: str, time: str, number: int) -> None:
        """Take its next line."""
        self.lines[number] = line
        self.end, self.last = max(self.end, time), number
        if named := _PRINTED_ID.search(line):
            self.printed_id = named[1]

    def may_restart(self, member: Sequence["Process"]) -> bool:
        """Return True when this is a start after the end of a member's last process.

        A clock may have been put back meanwhile, but hardly by a quarter of the log.
        """
        before, since = member[-1], int(member[0].begin)
        late = 4 * (int(self.begin) - since) > 3 * (int(before.end) - since)
        if self.printed_id and before.printed_id:
            late = self.printed_id == before.printed_id
        return self.started and before.kind == self.kind and before.last < self.first and late


def members_in(lines: Sequence[str]) -> tuple[list[list[Process]], list[Process]]:
    """Return the servers and sentinels whose lines stand in a text, each as its processes, and the processes of which
    nobody knows whose restarts they are.

    Both are empty when there is only one, or when names before the lines, such as those of containers, tell them apart.
    """
    found = [_LINE.fullmatch(line) for line in lines]
    before = {match["before"] for match in found if match}
    if len({_NO_NAME.sub("", text) for text in before}) != 1:
        return [], []
    members: list[list[Process]] = []
    left_out: list[Process] = []
    for process in processes_in(lines, found):
        ended = [member for member in members if process.may_restart(member)]
        if len(ended) > 1:
            left_out.append(process)
        elif ended:
            ended[0].append(process)
        else:
            members.append([process])
    return (members, left_out) if len(members) > 1 else ([], [])


def processes_in(lines: Sequence[str], found: Sequence[re.Match[str] | None]) -> list[Process]:
    """Return the processes by their first lines; ``found`` are the matches of the lines that name one.

    Lines of a child, and lines without a process, go to the process that wrote before them.
    """
    kinds = [_KINDS.get(match["letter"] or match["role"], "") if match else "" for match in found]
    parents = {match["pid"] or match["id"] for match, kind in zip(found, kinds, strict=True) if match and kind}
    alive: list[Process] = []
    now: Process | None = None
    for number, (line, match, kind) in enumerate(zip(lines, found, kinds, strict=True)):
        time = time_of(match["line"]) if match else None
        pid = (match["pid"] or match["id"]) if match else ""
        if match is None or time is None or pid not in parents:
            if now is not None and (match is not None or line[:1].isspace()):
                now.lines[number] = match["line"] if match else line
            continue
        of_pid = (process for process in reversed(alive) if process.pid == pid)
        now = next((process for process in of_pid if not process.kind or kind in ("", process.kind)), None)
        starts = _STARTS.search(line) is not None
        if now is None or starts or time < now.begin:
            now = Process(pid, kind, time, number, starts)
            alive.append(now)
        now.kind = now.kind or kind
        now.takes(match["line"], time, number)
    return [process for process in alive if process.kind]


def time_of(line: str) -> str | None:
    """Return the digits of the time of a line, which sort as the times do; None if it has none."""
    if found := _TIME.search(line, 0, BEFORE_TEXT):
        day, month, year, hour, minute, second, rest = found.groups()
        return f"{year}{MONTHS.index(month.lower()) + 1:02}{day.zfill(2)}{hour}{minute}{second}{rest.ljust(9, '0')}"
    written = stamp(line[:BEFORE_TEXT])
    return written and written[1]


def one_after_another(members: Sequence[Sequence[Process]], left_out: Sequence[Process]) -> bool:
    """Return True when each process of a file wrote its last line before the next one wrote its first, and no two print
    different ids: so it is with the restarts of one server."""
    processes = by_place(members, left_out)
    names = {process.printed_id for process in processes if process.printed_id}
    return len(names) < 2 and all(before.last < after.first for before, after in pairwise(processes))


def in_turn(members: Sequence[Sequence[Process]], left_out: Sequence[Process]) -> bool:
    """Return True when the processes of a file came :func:`one_after_another`, by their times too."""
    in_time = all(before.end <= after.begin for before, after in pairwise(by_place(members, left_out)))
    return in_time and one_after_another(members, left_out)


def by_place(members: Sequence[Sequence[Process]], left_out: Sequence[Process]) -> list[Process]:
    """Return all processes of a file in the order of their first lines."""
    return sorted((process for member in (*members, left_out) for process in member), key=attrgetter("first"))


def writers_in(
    lines: Sequence[str], members: Sequence[Sequence[Process]], file: LogFile
) -> tuple[list[str], list[Writer | None]]:
    """Return the lines of a file, without what stands before the process in each, and the server or sentinel that wrote
    each; None where nobody knows."""
    texts = [*lines]
    writers: list[Writer | None] = [None] * len(lines)
    for number, member in enumerate(members, 1):
        writer = Writer(f"{file.source_node}-{member[0].kind}-{number}", file.name)
        for process in member:
            for at, text in process.lines.items():
                texts[at], writers[at] = text, writer
    return texts, writers
