"""HashiCorp's Raft library as one row: the election lines of Consul, Nomad, Vault and other programs that use it.

    2026-11-26T18:07:52.405Z [INFO]  agent.server.raft: election won: term=2 tally=2
    2021-05-13T19:39:22.359Z [INFO]  raft/raft.go:250: nomad.raft: election won: term=2 tally=2
    {"@level":"info","@message":"election won","@module":"agent.server.raft","@timestamp":"2026-11-26T18:07:52.405Z","tally":2,"term":2}
    2019/10/01 10:00:00 [INFO] raft: Node at 127.0.0.1:8300 [Candidate] entering Candidate state in term 2
    [1] 2021/01/21 10:49:33.968198 [INF] STREAM: raft: Node at stan-1 [Candidate] entering Candidate state in term 2217

The second has the source location, if the program's logger is set up so; the third is that of ``log_json``, in which a
node does not print its address; the fourth is that of releases before 1.1 of the library, in local time, the oldest of
which print no term; the last is theirs in NATS Streaming, with the process before it. A leader's line prints no term: it is that of the line before. A voter prints nothing when it
grants, and a follower prints no term. Source: ``raft.go`` of the library, 1.0 to 1.7.
"""

import re
from functools import partial

from election_replay.election_core.dialects.described.table import Row, Rows
from election_replay.election_core.dialects.dialect import Dialect, Record, moment
from election_replay.election_core.dialects.json_layouts import json_layout
from election_replay.election_core.dialects.parts import LEVELS, Line, parse_by, time_in
from election_replay.election_core.dialects.system import Spoken, System
from election_replay.election_core.model.events import Event

PREFIX, PROTOCOL, GROUP = "HR", "hashicorp_raft", "raft"

ROWS = (
    Row("initial configuration", "starts"),
    Row("Initial configuration (index={}): {...}", "starts"),
    Row("entering follower state", "follows", {"node": "follower", "leader": "leader-address"}),
    Row("entering candidate state", "asks_for_votes", {"node": "node", "term": "term"}),
    Row("election won", "in_term", {"term": "term"}),
    Row("entering leader state", "leads", {"node": "leader"}),
    Row("heartbeat timeout reached, starting election", "loses_leader", {"leader": "last-leader-addr"}),
    Row("failed to contact quorum of nodes, stepping down", "loses_quorum"),
    Row("failed to contact", "misses", {"peer": "server-id", "duration": "time"}),
    Row("starting leadership transfer", "hands_over"),
    Row("removed ourself, shutting down", "is_removed"),
    Row("removed ourself, transitioning to follower", "is_removed"),
    Row("vote granted", "gets_a_vote", {"voter": "from", "term": "term"}),
    Row("rejecting vote request since we have a leader", "refuses", {"candidate": "from"}),
    Row("rejecting vote request since our last term is greater", "refuses", {"candidate": "candidate"}),
    Row("rejecting vote request since our last index is greater", "refuses", {"candidate": "candidate"}),
    Row("rejecting vote request since node is not in configuration", "refuses", {"candidate": "from"}),
    Row("rejecting vote request since node is not a voter", "refuses", {"candidate": "from"}),
    Row('Node at {node} [Follower] entering Follower state (Leader: "{leader}")', "follows"),
    Row("Node at {node} [Candidate] entering Candidate state in term {term}", "asks_for_votes"),
    Row("Node at {node} [Leader] entering Leader state", "leads"),
    Row('Heartbeat timeout from "{leader}" reached, starting election', "loses_leader"),
    Row("Node at {node} [Follower] entering Follower state", "follows"),
    Row("Node at {node} [Candidate] entering Candidate state", "asks_for_votes"),
    Row("Heartbeat timeout reached, starting election", "loses_leader"),
    Row("Failed to contact quorum of nodes, stepping down", "loses_quorum"),
    Row("Failed to contact {peer} in {duration}", "misses"),
    Row("Rejecting vote request from {candidate} since {...}", "refuses"),
    Row("Vote granted from {voter} in term {term}. Tally: {}", "gets_a_vote"),
)
"""The lines of elections; the later ones are those of releases before 1.1."""

TABLE = Rows(ROWS, PREFIX, {"protocol": PROTOCOL, "replica_group": GROUP})

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_OLD = r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
RECORD_START = rf"^ {{0,8}}(?:\[\d{{1,7}}\] )?(?:{_ISO}|{_OLD}) \[[A-Z]{{3,5}}\] |^\{{\"@"
_LINE = re.compile(
    rf" {{0,8}}(?:\[\d{{1,7}}\] )?({_ISO}|{_OLD}) \[([A-Z]{{3,5}})\] {{1,2}}(?:[\w./-]{{1,160}}:\d{{1,6}}: )?"
    r"(?:STREAM: )?(?:([\w./-]{0,160}raft): )(.*)",
    re.DOTALL | re.ASCII,
)
_TIME = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-]\d\d):?(\d\d))?")
_KEYS = re.compile(r": (?=[\w-]{1,80}=)")
_PAIR = re.compile(r'([\w-]{1,80})=("(?:[^"\\]|\\.){0,2000}"|[^\s"]{0,400})')
_AT = re.compile(r"Node at (\S{1,255}) \[\w{1,20}\]")
_JSON = json_layout("json time=@timestamp level=@level logger=@module message=@message")


def line_of(text: str) -> Line | None:
    """Return the parts of a line in one of the library's own layouts, with the text after the message as fields."""
    if text.startswith("{"):
        line = _JSON.line(text)
        return line if line is not None and (line.logger or "").endswith("raft") else None
    found = _LINE.match(text)
    if found is None:
        return None
    printed, level, logger, message = found.groups()
    return with_fields(Line(partial(time_at, printed), LEVELS.get(level, level), None, logger, None, message.rstrip()))


def with_fields(line: Line) -> Line:
    """Return the line with the text after its message as fields: ``election won: term=2 tally=2``. Older releases write
    a leader's address under ``leader`` and ``last-leader``."""
    if line.fields or (begin := _KEYS.search(line.message[:400])) is None:
        return line
    fields = {key: _plain(value) for key, value in _PAIR.findall(line.message, begin.end())}
    if "follower" in fields and "leader" in fields:
        fields["leader-address"] = fields["leader"]
    if "last-leader" in fields:
        fields["last-leader-addr"] = fields["last-leader"]
    return line._replace(message=line.message[: begin.start()], fields=fields)


def _plain(value: str) -> str:
    found = value.strip('"')
    node = _AT.fullmatch(found)
    return node[1] if node else found


def time_at(printed: str, utc_offset_minutes: int) -> tuple[int, int]:
    """Return (us UTC, resolution in ms). Raises ``ValueError`` for no possible time."""
    found = _TIME.fullmatch(printed)
    if found is None:
        raise ValueError(f"no time: {printed[:40]!r}")
    year, month, day, clock, fraction, hours, minutes = found.groups()
    zone = 0 if printed.endswith("Z") else utc_offset_minutes
    if hours is not None:
        zone = int(hours) * 60 + (int(minutes) if int(hours) >= 0 and not hours.startswith("-") else -int(minutes))
    return moment(f"{year}-{month}-{day} {clock}", fraction, zone)


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` for a known text with an impossible
    value."""
    return TABLE.read(with_fields(line), record)


def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Return (us UTC, resolution in ms) of a first line, or None if it has no possible time."""
    return time_in(line_of(text), utc_offset_minutes)


SYSTEM = System(
    title="HashiCorp Raft",
    dialect=Dialect(
        name="hashicorp",
        record_start=RECORD_START,
        needles=TABLE.table.needles(),
        utc_offset_minutes=0,
        parse=parse_by(line_of, TABLE.read),
        time_of=time_of,
        parse_line=parse_line,
        reads=lambda text: line_of(text) is not None,
        anchors=TABLE.table.anchors(),
        plain=False,
    ),
    table=TABLE.table,
    streams=("consul*.log*", "nomad*.log*", "vault*.log*", "consul*.out", "nomad*.out", "vault*.out"),
    stream="hashicorp-raft.log",
    protocols=(Spoken(PROTOCOL),),
    releases=((1, 0), (1, 8)),
    member="address",
    places=("consul", "nomad", "vault"),
    says_farewell=False,
)
"""Each file has a process of its own: a machine may run Consul, Nomad and Vault."""
