"""Wild worlds: many faults at once, judged as they were; what is told wrongly is known by its seed."""

from collections import Counter
from itertools import product

import pytest

from election_replay.election_core.simulate.catalogue import ELECTORATES, WILD
from election_replay.election_core.simulate.judged import findings_of
from election_replay.election_core.simulate.scenario import played
from proof.audit.checks import FALSE
from proof.audit.worlds import STILL_FALSE, WorldRecords, audited_world, judged_world, judged_worlds
from tests.proving import amount, only_when_proving

PROTOCOLS = ("dledger", "raft", "zab", "controller", "acting_master")

FEW = [
    (f"{system}-wild-faults", seed) for system, seed in product(("dledger", "raft", "controller", "acting"), (1, 2, 4))
]
"""Worlds of which nothing false is told."""

ONCE = [
    ("zab-wild-faults", 1),
    ("zab-wild-faults", 6),
    ("zab-wild-disks", 1),
    ("zab-wild-disks", 4),
    ("dledger-wild-faults", 11),
    ("dledger-wild-faults", 21),
    ("dledger-wild-disks", 2),
    ("dledger-wild-disks", 38),
    ("dledger-wild-disks", 62),
    ("dledger-wild-disks", 77),
    ("raft-wild-clocks", 118),
    ("raft-wild-clocks", 298),
    ("dledger-wild-clocks", 3),
    ("zab-wild-clocks", 1),
    ("zab-wild-faults", 122),
    ("zab-wild-disks", 31),
    ("zab-wild-disks", 93),
    ("zab-wild-disks", 96),
    ("dledger-wild-clocks", 16),
    ("dledger-wild-clocks", 86),
    ("raft-wild-clocks", 38),
    ("zab-wild-clocks", 27),
    ("dledger-wild-clocks", 29),
    ("dledger-wild-clocks", 14),
    ("raft-wild-clocks", 7),
    ("raft-wild-clocks", 52),
    ("raft-wild-clocks", 57),
    ("raft-wild-clocks", 67),
    ("zab-wild-clocks", 33),
    ("dledger-wild-clocks", 79),
    ("dledger-wild-clocks", 120),
    ("raft-wild-clocks", 47),
    ("raft-wild-clocks", 63),
    ("raft-wild-clocks", 74),
    ("zab-wild-clocks", 55),
    ("zab-wild-clocks", 75),
    ("zab-wild-clocks", 79),
    ("zab-wild-clocks", 124),
    ("zab-wild-disks", 112),
    ("dledger-wild-clocks", 101),
    ("dledger-wild-clocks", 139),
    ("dledger-wild-clocks", 146),
    ("dledger-wild-clocks", 148),
    ("dledger-wild-clocks", 154),
    ("zab-wild-clocks", 63),
    ("raft-wild-disks", 124),
    ("raft-wild-disks", 49),
    ("dledger-wild-clocks", 207),
    ("dledger-wild-clocks", 208),
    ("raft-wild-clocks", 239),
    ("raft-wild-clocks", 175),
    ("controller-wild-clocks", 8),
    ("controller-wild-clocks", 17),
    ("controller-wild-clocks", 18),
    ("controller-wild-clocks", 264),
    ("dledger-wild-clocks", 201),
    ("zab-wild-clocks", 338),
    ("zab-wild-clocks", 212),
    ("controller-wild-clocks", 164),
    ("raft-wild-clocks", 225),
    ("dledger-wild-clocks", 1006),
    ("dledger-wild-clocks", 1046),
    ("raft-wild-clocks", 1105),
    ("zab-wild-clocks", 1034),
    ("controller-wild-clocks", 1118),
    ("controller-wild-clocks", 1005),
    ("controller-wild-disks", 1056),
    ("controller-wild-disks", 1073),
    ("controller-wild-faults", 1010),
]
"""Worlds that were judged wrongly: who had left and came back to its leader, and all ended before anybody missed it; a
short freeze told as cut off; a master that served for a second; leaders of epochs that went back; a follower that came
without printing its epoch; a majority that was lost and made good before the leader died; a clock that was set forward
told as frozen, or as cut off; clocks of which one was called right, although several were set, and no other bore it out;
times told by a clock of which it is not known how far it was off; clocks set twice told as one clock that was always
off; a follower that came back while clocks were in doubt, told as lost before; a vote of a server that had started
again, which shows that a clock was set; a leader that slept as long as one waits that is cut off, and was reached as
soon as it woke; what a leader committed after the last line that calls it so; a leader elected again in its term, which
ties the clocks of its followers; two clocks put back alike, taken for right behind that; a clock that one of two others
contradicts first, and the other one by more; a follower that was cut off shortly before its leader died; a message that
came between two lives of its sender, by a clock that was set meanwhile; a master whose clock was set forward, whose
epoch its slaves read; a clock that was put back, told to be off by what another one was set forward in a silence of its
log too; a time-out of a follower that was noted right behind a step of its clock, and reckoned back over it; a leader whose
clock was put back, which by its log had given up long before it closed its connections; a term that a member with an older copy of its
store won again, told as a clock that was off; a clock that a third one bore out only before it was set; what one clock
was put back by and another one, that nobody else heard then, was set forward by, told of the first alone; a hub told
to be off, of whose spokes two were set; a master elected in the second in which an election found nobody; a change of a set
whose epoch a controller counted again, from an older copy of its store, told as a clock that was off; a frozen master
told to have served nobody since its last line, though its lines come every ten seconds."""

DOUBTED = [
    ("dledger-wild-clocks", 60),
    ("dledger-wild-clocks", 62),
    ("raft-wild-clocks", 84),
    ("zab-wild-clocks", 27),
    ("dledger-wild-clocks", 146),
    ("zab-wild-clocks", 125),
]
"""Worlds of which a verdict seemed to contradict itself, while clocks were set again and again beside other faults."""

FALSE_AT_MOST = 0.004
"""What part of the findings may be false, because clocks were set and no line shows it."""


MOVED = [("raft-wild-moving", 4), ("raft-wild-moving", 15), ("dledger-2-voters-wild-faults", 1)]
"""Worlds that were judged wrongly: a voter is added and takes the majority away; a leader serves for less than the
second that its log prints."""


@pytest.mark.parametrize(("name", "seed"), [*FEW, *ONCE, *MOVED])
def test_nothing_false_is_told_of_a_wild_world(name: str, seed: int) -> None:
    assert not [breach for breach in audited_world(name, seed) if breach.kind == FALSE]


@pytest.mark.parametrize(("name", "seed"), STILL_FALSE)
def test_what_is_still_false_has_its_reason(name: str, seed: int) -> None:
    """Where nothing is false any more, the world belongs to those above."""
    reasons = [reason for breach, reason in judged_world(name, seed).breaches if breach.kind == FALSE]
    assert reasons
    assert all(reasons)


@pytest.mark.parametrize(("name", "seed"), [("zab-wild-faults", 78), ("zab-wild-disks", 22)])
def test_an_outage_begins_when_a_leader_heard_from_its_followers_last(name: str, seed: int) -> None:
    """A leader that hears nobody, while they hear it, gives up ten seconds later, and they know nothing before; another
    one has a single follower, which hears nobody, while the third member looks for a leader all the time."""
    assert not [breach for breach in audited_world(name, seed) if breach.check == "bounds"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ELECTORATES)
def test_no_time_without_a_quorum_is_told_that_a_world_of_other_voters_had(name: str) -> None:
    """Two, four, five and seven voters, and members that come and go: nobody committed meanwhile."""
    of_worlds = (breach for seed in range(amount(1, 25)) for breach in audited_world(name, seed))
    assert not [breach for breach in of_worlds if (breach.kind, breach.check) == (FALSE, "bounds")]


def test_who_led_by_a_clock_in_doubt_led_when_it_showed() -> None:
    """A clock that may have been set forward by any amount is taken at its word until then, not by the largest."""
    assert not [breach for breach in audited_world("dledger-wild-clocks", 11) if breach.check == "leaders"]


def test_a_voter_whose_own_log_shows_that_it_was_asked_in_time_broke_no_rule() -> None:
    """The order of its own lines holds whatever the clocks of two members say."""
    found = findings_of(played(WILD["raft-wild-clocks"], 61), "raft-wild-clocks")
    assert not [row for row in found if row.rule == "WRONG_VOTE_RESULT"]


def test_a_quiet_broker_is_not_told_to_be_silent_again_and_again() -> None:
    """Its periodic lines come all at once, every ten seconds: only a longer silence breaks that rhythm."""
    found = findings_of(played(WILD["controller-wild-faults"], 5), "controller-wild-faults")
    assert [row.duration_min_ms for row in found if row.rule == "LOG_GAP"] == [13_000]


def test_a_wild_world_is_wild_and_repeats() -> None:
    acts = Counter(fault.action for name in WILD for fault in played(WILD[name], 3).faults)
    assert {"kill", "stop", "freeze", "thaw", "cut", "heal", "clock set", "old copy put back"} <= set(acts)
    world, again = (played(WILD["raft-wild-disks"], 5) for _ in range(2))
    assert [line.text for line in world.lines] == [line.text for line in again.lines]
    assert WorldRecords(world, "a").deeds == WorldRecords(again, "b").deeds


def test_no_verdict_on_a_wild_world_contradicts_itself() -> None:
    """Times of clocks of which little is known may be far from each other: that is no contradiction."""
    for name, seed in [*product(WILD, range(amount(1, 2))), *DOUBTED]:
        assert not [row.summary for row in findings_of(played(WILD[name], seed), name) if row.rule == "NOT_JUDGED"], (
            name
        )


@pytest.mark.slow
@only_when_proving("half an hour")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_five_hundred_wild_worlds(protocol: str) -> None:
    """`python -m proof.audit.worlds <protocol>` prints what is told wrongly, with the seeds and reasons."""
    worlds = list(judged_worlds(protocol, 500))
    false = [(breach, reason) for world in worlds for breach, reason in world.breaches if breach.kind == FALSE]
    assert not [breach for breach, reason in false if not reason]
    findings = sum(world.findings for world in worlds)
    assert len(false) <= FALSE_AT_MOST * findings, [f"{breach.run}: {breach.words}" for breach, _ in false]
