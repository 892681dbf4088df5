"""Which new lines say nothing but that a source lives on."""

from dataclasses import replace
from typing import Any

import pytest

from election_replay.election_core.fold.identity import IDENTITY_KINDS
from election_replay.election_core.fold.process_runs import SILENCE, START_KINDS, STOP_KINDS, Segment
from election_replay.election_core.protocols.log_quality import log as log_quality
from election_replay.election_core.replay.registry import PERIODIC
from election_replay.election_core.replay.rest import Ended, LastLine, Lines, goes_on, last_growth, signs_of_life

SECOND = 1_000_000
STREAM, STATUS = "broker_default.log", "DL_STATUS"
SAYS = {"node": "n1", "replica_group": "g", "role": "LEADER", "term": 3, "committed": 7}
UNTIL = 100 * SECOND
ENDED = Ended(
    lines=(
        LastLine(STREAM, STATUS, (1,), 9, 90 * SECOND, SAYS),
        LastLine(STREAM, "TICK", (1,), 10, UNTIL, {}),
    ),
    until=Segment(0, SECOND, UNTIL, UNTIL + SECOND, "a", "b"),
    since_fold=(),
    bound_ms=500,
)
STATUSES = Lines(
    stream=STREAM,
    place=(1,),
    kind=STATUS,
    least=SAYS,
    most=SAYS,
    first_line=11,
    first=UNTIL + 3 * SECOND,
    last=UNTIL + 30 * SECOND,
    first_event="c",
    widths=(1000, 1000),
    bounds=(500, 500),
    jumps=False,
)


GROWN = {"least": SAYS | {"committed": 8}, "most": SAYS | {"committed": 9}}


def test_what_repeats_itself_goes_on() -> None:
    assert goes_on(ENDED, [STATUSES], may_grow=False)
    assert goes_on(ENDED, [STATUSES, replace(STATUSES, kind=None, least={}, most={}, first_line=12)], may_grow=False)
    assert goes_on(ENDED, [replace(STATUSES, place=(2,), first_line=1)], may_grow=False), "in a new file"


def test_a_count_grows_where_it_may() -> None:
    assert goes_on(ENDED, [replace(STATUSES, **GROWN)], may_grow=True)
    assert not goes_on(ENDED, [replace(STATUSES, **GROWN)], may_grow=False)


@pytest.mark.parametrize(
    ("counts", "last"),
    [([], None), ([3], None), ([3, 3], None), ([3, 4], 1), ([3, 4, 4], 1), ([3, 4, 5, 5], 2), ([None, 3, 3], None)],
)
def test_the_last_growth(counts: list[int | None], last: int | None) -> None:
    assert last_growth(counts) == last


@pytest.mark.parametrize(
    "other",
    [
        {"first": UNTIL - SECOND},
        {"first": UNTIL},
        {"first": UNTIL + SILENCE},
        {"jumps": True},
        {"widths": (1, 1000)},
        {"bounds": (500, 900)},
        {"stream": "broker.log"},
        {"place": (0,)},
        {"first_line": 10},
        {"kind": "DL_TO_LEADER"},
        {"kind": "DL_HEARTBEAT_FAILED"},
        {"least": SAYS | {"term": 4}, "most": SAYS | {"term": 4}},
        {"least": SAYS | {"committed": 6}, "most": SAYS | {"committed": 6}},
        {"least": SAYS | {"committed": None}, "most": SAYS | {"committed": None}},
    ],
)
def test_what_says_more_does_not(other: dict[str, Any]) -> None:
    assert not goes_on(ENDED, [replace(STATUSES, **other)], may_grow=True)


def test_signs_of_life_are_those_since_the_fold() -> None:
    late = [(UNTIL + second * SECOND, UNTIL + (second + 1) * SECOND, str(second)) for second in (20, 24, 30)]
    [first, *_, last] = signs_of_life(ENDED, [STATUSES], late)
    assert (first.first, first.first_event) == (STATUSES.first, "c")
    assert (last.last, last.last_by, last.last_event) == (UNTIL + 30 * SECOND, UNTIL + 31 * SECOND, "30")


class Read:
    """An event that tells which of its fields are read."""

    def __init__(self) -> None:
        self.fields: set[str] = set()

    def __getattr__(self, name: str) -> None:
        self.fields.add(name)


@pytest.mark.parametrize("kind", sorted(PERIODIC))
def test_a_periodic_line_is_read_for_no_more_than_it_names(kind: str) -> None:
    read, periodic = Read(), PERIODIC[kind]
    periodic.says(read)  # type: ignore[arg-type] # all that it needs are attributes
    assert read.fields == {*periodic.reads}
    assert periodic.counts is None or periodic.counts in periodic.reads
    assert kind not in START_KINDS | STOP_KINDS | IDENTITY_KINDS | log_quality.KINDS
