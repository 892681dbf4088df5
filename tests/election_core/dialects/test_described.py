"""A program without a dialect is read by a table: what its texts do, what is refused, and that no line is dear."""

import time

import pytest

from election_replay.election_core.dialects import Record, named
from election_replay.election_core.dialects.described.dialect import named as name_of
from election_replay.election_core.dialects.described.dialect import shown
from election_replay.election_core.model.events import Event, Unparsable

LAYOUT = "%d{ISO8601} [%t] %-5p %c - %m%n"
TEXTS = [
    {"text": "node {node} of ring {group} comes up", "does": "starts"},
    {"text": "lead the ring, round {term}", "does": "leads"},
    {"text": "round {term}: {leader} leads", "does": "follows"},
    {"text": "ballot for {candidate} in round {term}; {...}", "does": "votes"},
    {"text": "state changed", "does": "leads", "where": {"to": "Leader"}, "fields": {"term": "raft.term"}},
    {"text": "state changed", "does": "follows", "where": {"to": "Follower"}, "fields": {"leader": "leader"}},
]


def event(line: str, layout: str = LAYOUT, texts: list[dict[str, object]] = TEXTS) -> Event | None:
    dialect = named(name_of("rings", layout, texts))
    assert dialect is not None
    if not any(needle in line for needle in dialect.needles):
        return None
    return dialect.parse(Record(line, (), "rings.log", 0))


def at(message: str) -> str:
    return f"2026-03-01 10:00:00,123 [main] INFO  ring.Node - {message}"


@pytest.mark.parametrize(
    ("message", "kind", "columns"),
    [
        ("node n1 of ring west comes up", "TOLD_START", {"node": "n1", "replica_group": "west"}),
        ("lead the ring, round 7", "TOLD_LEADS", {"term": 7, "replica_group": "rings"}),
        ("round 7: n2 leads", "TOLD_FOLLOWS", {"term": 7, "peer": "n2"}),
        ("ballot for n2 in round 8", "TOLD_VOTES", {"term": 8, "peer": "n2"}),
        ("ballot for n2 in round 8 after 3 s", None, {}),
    ],
)
def test_a_line_becomes_what_its_text_does(message: str, kind: str | None, columns: dict[str, object]) -> None:
    texts = [*TEXTS[:3], {"text": "ballot for {candidate} in round {term}", "does": "votes"}]
    found = event(at(message), texts=texts)
    assert (found.kind if found else None) == kind
    if found is not None:
        assert {name: getattr(found, name) for name in columns} == columns
        assert found.event_time == 1_772_359_200_123_000


def test_fields_of_json_say_what_a_message_does_not() -> None:
    layout = "json time=ts level=level message=msg"
    lead = '{"ts":"2026-03-01T10:00:00.123Z","level":"info","msg":"state changed","to":"Leader","raft":{"term":4}}'
    follow = lead.replace("Leader", "Follower").replace('"raft"', '"leader":"n3","raft"')
    found, other = event(lead, layout), event(follow, layout)
    assert found is not None
    assert other is not None
    assert (found.kind, found.term, other.kind, other.peer) == ("TOLD_LEADS", 4, "TOLD_FOLLOWS", "n3")


@pytest.mark.parametrize("printed", ["seven", "9" * 30])
def test_a_term_that_cannot_be_is_told(printed: str) -> None:
    with pytest.raises(Unparsable):
        event(at(f"lead the ring, round {printed}"))


@pytest.mark.parametrize(
    ("text", "does", "reason"),
    [
        ("lead {}{term}", "leads", "between two places"),
        ("{term}", "leads", "no word of its own"),
        ("lead {colour}", "leads", "a place is"),
        ("lead {term:int}", "leads", "a place is"),
        ("lead {term!r}", "leads", "a place is"),
        ("lead {term.__class__}", "leads", "a place is"),
        ("lead {term} and {term}", "leads", "twice"),
        ("lead {", "leads", "text: "),
        ("lead", "jumps", "is none of"),
        ("vote", "votes", "needs {candidate}"),
        ("x" * 401, "leads", "more than 400"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(text: str, does: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        name_of("rings", LAYOUT, [{"text": text, "does": does}])


def test_no_line_is_dear_whatever_stands_in_it() -> None:
    """A value ends at the first literal behind it: no hostile line is tried in several ways."""
    texts: list[dict[str, object]] = [{"text": "ab{}a{node}a{leader}a{}a{...}a{...}b", "does": "follows"}]
    begun = time.process_time()
    for line in ("ab" + "a" * 60_000, "ab" + "a " * 30_000, "ab" + "ab" * 30_000):
        assert event(at(line), texts=texts) is None
    assert time.process_time() - begun < 2


def test_people_see_the_programs_name_and_not_its_table() -> None:
    assert shown(name_of("rings", LAYOUT, TEXTS)) == "described rings"
    assert shown("redis") == "redis"
