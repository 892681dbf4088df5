"""The law of fewer lines, over real runs and worlds (:mod:`tests.election_core.judge.fewer_lines`), and that it can
fail."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.fold.roles import DIED
from election_replay.election_core.model.catalogue import DEFINITE, POSSIBLE
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, Term
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.simulate.catalogue import ELECTORATES, PROTOCOLS, SCENARIOS
from election_replay.election_core.simulate.judged import logs_of
from election_replay.election_core.simulate.scenario import played
from tests.election_core import story
from tests.election_core.judge.fewer_lines import Lines, breaches, combined_cut, cut, cuts, first_cuts
from tests.proving import amount

SYSTEMS = (
    "compound-clusters",
    "etcd",
    "kafka-kraft",
    "other-clusters",
    "redis-cluster",
    "redis-sentinel",
    "rocketmq-acting-master",
    "rocketmq-controller",
    "rocketmq-dledger",
    "zookeeper",
)
Count = Callable[[str, object], None]
"""Notes how much a test did, by name and number."""

PARTS = amount(2, 12)
"""So many parts of each run and world."""
NIGHT = 1
"""Another one has `make test` try other parts."""


BY_ONE_NAME_SERVER = "Whoever asked the name server"
"""Times without a master by the word of one name server are told only where the brokers' logs explain no other one;
where lines are missing, more of them are. They are information."""


def judged(cluster: str, lines: Lines) -> list[Row]:
    introduced = story.introduced_by(lines)
    facts = [
        fact
        for folder, of_folder in lines.items()
        for fact in story.folder_facts(cluster, folder, of_folder, introduced.get(folder, {}))
    ]
    return story.judge(facts)


def breaches_of(cluster: str, lines: Lines, seed: int, parts: int = PARTS) -> Iterator[str]:
    whole, found = judged(cluster, lines), 0
    for part in cuts(lines, seed + NIGHT, parts):
        for breach in breaches(whole, judged(cluster, part.lines)):
            if BY_ONE_NAME_SERVER not in breach:
                found += 1
                yield f"{cluster}, {part.how}: {breach}"
    print(f"{cluster}: {parts} cuts tried, {found} breaches")


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_part_of_a_real_run_proves_nothing_that_the_whole_does_not(
    corpora: Path, system: str, record_property: Count
) -> None:
    runs = sorted(path.parent for path in (corpora / system).glob("*/run.json"))
    record_property("cuts of real runs", PARTS * len(runs))
    found = [line for number, run in enumerate(runs) for line in breaches_of(run.name, story.run_lines(run), number)]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["dledger", "raft", "zab"])
def test_part_of_a_world_proves_nothing_that_the_whole_does_not(protocol: str, record_property: Count) -> None:
    names = sorted(scenario.name for scenario in PROTOCOLS[protocol].scenarios if not scenario.broken)
    seeds = range(amount(1, 5))
    record_property("cuts of worlds", PARTS * len(seeds) * len(names))
    found = [line for seed in seeds for name in names for line in breaches_of(name, lines_of(name, seed), seed)]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELECTORATES)
def test_part_of_a_world_of_other_voters_proves_nothing_that_the_whole_does_not(
    name: str, record_property: Count
) -> None:
    seeds = range(amount(1, 10))
    record_property("cuts of worlds", PARTS * len(seeds))
    found = [line for seed in seeds for line in breaches_of(name, lines_of(name, seed), seed)]
    assert not found, "\n".join(found)


AGAIN = [("dledger-2-voters-wild-faults", 0), ("zab-5-voters-wild-faults", 0), ("zab-4-voters-wild-faults", 3)]
"""Worlds whose parts proved more than the whole: a follower's word that a leader led again beyond the end of that one's
log; a restart that a log without INFO does not show; an ensemble of which only WARN lines are there."""


@pytest.mark.parametrize(("name", "seed"), AGAIN)
def test_part_of_a_world_that_proved_too_much_once(name: str, seed: int) -> None:
    lines = lines_of(name, seed)
    whole = judged(name, lines)
    assert not [breach for part in first_cuts(lines, seed, 7) for breach in breaches(whole, judged(name, part.lines))]


WORLDS_BY_NUMBER = [
    ("dledger-five-any-faults", 0, 19),
    ("dledger-2-voters-wild-faults", 4, 63),
    ("dledger-2-voters-wild-faults", 4, 65),
    ("dledger-5-voters-wild-faults", 2, 39),
    ("dledger-7-voters-wild-faults", 1, 26),
    ("dledger-7-voters-wild-faults", 3, 58),
    ("dledger-7-voters-wild-faults", 4, 62),
    ("raft-lost-lines", 4, 70),
    ("raft-5-voters-wild-faults", 3, 51),
    ("raft-5-voters-wild-faults", 3, 59),
    ("zab-4-voters-wild-faults", 0, 20),
    ("zab-4-voters-wild-faults", 8, 108),
    ("zab-7-voters-wild-faults", 3, 51),
    ("zab-7-voters-wild-faults", 5, 75),
]
"""Worlds, a seed, and a cut that proved more than the whole: a leader "that never served", where the file that would say
so ends; one that its only follower with a log missed, which may have followed again behind its end, or others without
logs longer; a leader first seen amid its term, which its followers date; a leader that had led the term before its log
begins; one whose connection closed, though its log ends before; a leader that stood still, of whose successor only a
follower tells, or that log alone; a restart of all, of which one log ends before; a word of a missed leader that was of
its term before; a leader that nobody else's log shows, elected beyond the end of its log."""


@pytest.mark.parametrize(("name", "seed", "number"), WORLDS_BY_NUMBER)
def test_cut_of_a_world_that_proved_too_much_once(name: str, seed: int, number: int) -> None:
    lines = lines_of(name, seed)
    assert not list(breaches(judged(name, lines), judged(name, cut(lines, number).lines)))


RUNS_AGAIN = [
    ("zookeeper/chaos-372", 11, "zk3's zookeeper-zk-server-zk3.log until"),
    ("rocketmq-controller/chaos", 5, "by itself"),
    ("kafka-kraft/rolling", 5, "ctl-1 until"),
]
"""Real runs, a seed, and cuts that proved more than the whole: a leader whose majority came back after another one was
elected; a hole in a log that was longer than the overlap of which it is a part; a fetch time-out that ended at once,
since the leader resigned, as its log would say."""


@pytest.mark.slow
@pytest.mark.parametrize(("run", "seed", "how"), RUNS_AGAIN)
def test_part_of_a_real_run_that_proved_too_much_once(corpora: Path, run: str, seed: int, how: str) -> None:
    lines = story.run_lines(corpora / run)
    whole = judged(run, lines)
    chosen = [part for part in first_cuts(lines, seed, 18) if how in part.how]
    assert chosen
    assert not [breach for part in chosen for breach in breaches(whole, judged(run, part.lines))]


STORIES = Path(__file__).parents[2] / "scenarios"
ONLY_THE_WHOLE_TELLS = frozenset(
    {
        "clock_of_the_new_master_ahead without c",  # what controllers heard alone shows that a clock was a minute ahead
        "jraft_controllers_disagree without ctl-1",  # each of two controllers elected another one
        "name_servers_disagree without ns1",  # what clients of the other one could not do stays true
    }
)


@pytest.mark.parametrize("protocol", sorted(folder.name for folder in STORIES.iterdir()))
def test_a_story_without_one_log_proves_nothing_that_the_whole_does_not(protocol: str) -> None:
    found = []
    for file in sorted((STORIES / protocol).glob("*.txt")):
        logs = story.parse(file.read_text())
        whole = story.scenario_rows(file)
        for gone in sorted({node for node, _ in logs} - {story.INVENTORY[0]}):
            if f"{file.stem} without {gone}" in ONLY_THE_WHOLE_TELLS:
                continue
            part = story.judge(story.facts_of({place: of for place, of in logs.items() if place[0] != gone}))
            found += [f"{file.stem} without {gone}: {breach}" for breach in breaches(whole, part)]
    assert not found, "\n".join(found)


BY_NUMBER = [
    ("redis-cluster/isolate-a-master", 43),
    ("compound-clusters/chaos-stock", 7),
    ("compound-clusters/chaos-stock", 43),
    ("compound-clusters/chaos-stock", 67),
    ("compound-clusters/chaos-wh-533", 39),
    ("compound-clusters/groups-bitnami-396", 58),
    ("compound-clusters/restore-3616", 37),
    ("compound-clusters/wiped-shop", 7),
    ("compound-clusters/h15-skip-live", 75),
    ("etcd/chaos-36", 55),
    ("etcd/kill-leader-33", 43),
    ("etcd/members-34", 159),
    ("kafka-kraft/rolling", 8),
    ("other-clusters/rocketmq-452-dledger", 1),
    ("other-clusters/rocketmq-510-controllers", 18),
    ("other-clusters/rocketmq-452-dledger", 2),
    ("other-clusters/rocketmq-452-dledger", 22),
    ("other-clusters/rocketmq-452-dledger", 79),
    ("other-clusters/rocketmq-514-dledger-five", 7),
    ("other-clusters/rocketmq-533-old-controllers", 14),
    ("other-clusters/rocketmq-533-old-controllers", 28),
    ("other-clusters/rocketmq-533-old-controllers", 43),
    ("other-clusters/rocketmq-533-old-controllers", 55),
    ("other-clusters/rocketmq-533-old-controllers", 60),
    ("other-clusters/rocketmq-533-old-controllers", 62),
    ("other-clusters/rocketmq-533-old-controllers", 115),
    ("other-clusters/rocketmq-540-jraft", 31),
    ("other-clusters/rocketmq-540-jraft", 55),
    ("other-clusters/rocketmq-540-jraft-all-ack", 31),
    ("other-clusters/rocketmq-540-jraft-all-ack", 46),
    ("other-clusters/rocketmq-550-unclean", 7),
    ("other-clusters/zookeeper-386-hasty", 171),
    ("other-clusters/zookeeper-395-reconfigured", 47),
    ("other-clusters/zookeeper-395-tls-broken", 51),
    ("redis-cluster/isolate-a-master", 44),
    ("redis-sentinel/kill-master-62", 41),
    ("rocketmq-acting-master/failover-preonline-clean", 7),
    ("rocketmq-acting-master/failover-skip-preonline", 19),
    ("rocketmq-acting-master/locks-nonstrict-cut", 39),
    ("rocketmq-acting-master/preonline-never-ends", 79),
    ("rocketmq-acting-master/preonline-never-ends", 135),
    ("rocketmq-controller/controller-leader-lost", 43),
    ("rocketmq-controller/controller-leader-lost", 75),
    ("rocketmq-controller/incidents-in-a-row", 19),
    ("rocketmq-controller/jraft", 7),
    ("rocketmq-controller/jraft", 34),
    ("rocketmq-controller/jraft", 55),
    ("rocketmq-controller/master-by-hand", 19),
    ("rocketmq-controller/master-by-hand", 55),
    ("rocketmq-dledger/chaos-533", 19),
    ("rocketmq-dledger/chaos-533", 43),
    ("rocketmq-dledger/chaos-533", 57),
    ("rocketmq-dledger/five-kill-leader-then-two-533", 31),
    ("rocketmq-dledger/kill-leader-520", 7),
    ("rocketmq-dledger/old-copy-497", 41),
    ("rocketmq-dledger/kill-leader-520", 31),
    ("rocketmq-dledger/restarted-leads-533", 7),
    ("rocketmq-dledger/restarted-leads-533", 21),
    ("other-clusters/rocketmq-500-controllers", 91),
    ("other-clusters/zookeeper-364-clock-and-twin", 158),
    ("compound-clusters/embedded-all-ack", 91),
    ("compound-clusters/many-topics-full-disk", 91),
    ("rocketmq-acting-master/failover-preonline-clean", 91),
    ("rocketmq-controller/chaos", 87),
    ("compound-clusters/chaos-wh-533", 73),
    ("compound-clusters/restore-shop", 75),
    ("other-clusters/rocketmq-510-controllers", 67),
    ("other-clusters/rocketmq-533-old-controllers", 91),
    ("rocketmq-controller/incidents-in-a-row", 67),
    ("rocketmq-controller/incidents-in-a-row", 79),
]
"""Real runs and cuts that proved more than the whole: what a clock that was set tells, at another time; a leader that
led on without a quorum, of whose next start the lines are missing; a first leader before which others followed one, by
their own logs; a node of a cluster that was master "since its start", since the line of its mode is missing; nobody
who served to the end of the logs, of which the log of whoever acted ended before; an election "because" its leader
lost its quorum afterwards; a start that only the file shows that is missing; no master to the end of the logs, though
the controllers elected one whose log is missing; an epoch that went on though nobody followed any more; a hole between
two files for which a master was called silent; a leader "frozen" in whose hole its next start was, without its lines;
a candidate "since its start", of whose time as a follower the lines are missing; a first leader, where others had led; decisions that a controller
prints once more when it starts; a leader that "died" when its follower did; an election "requested" though a smaller
epoch's master may have come later; a disk that was full beyond the end of the file that tells it; a master "all the
time" between the end of one file that tells roles and the beginning of the next; whoever many voted for, in a round
that decided nothing; members without a leader since before the last of them was there; an election
because of the larger term that its leader heard of later; no leader since the end of a leader's log, though who missed
it then followed it again in its term; a time without a leader until a status line of the next one, before which its
log has no lines; nobody who served to the end of the logs, of which those that would show it end before; a master that was back before name servers registered it; a follower's word
older than the last sign of its leader; a former term's role beside a later one of the same number; a set without a
master beyond the stop of all; queues that would be built again behind the end of the file; topics that
were writable "while a slave acted", behind the end of its log; a death of the former process among the first lines of the next one; two masters at once, of
which only the store and the connections of one have lines then; a voter that was down when it voted, by a process with
its id; no master on record beyond the end of the controller's log; refused writes beyond the end of all; services of a
master whose log ends before; a master silent since its log ends, of which others heard again; a death that a clock
places elsewhere; a leader whose log stops, which a member that ended then may have followed longer; the second in which
a log ends; a member by its former id; a start that waits for a role beyond a hole in the head of its log; a master that
was elected again after it was lost."""


@pytest.mark.slow
@pytest.mark.parametrize(("run", "number"), BY_NUMBER)
def test_cut_of_a_real_run_that_proved_too_much_once(corpora: Path, run: str, number: int) -> None:
    lines = story.run_lines(corpora / run)
    assert not list(breaches(judged(run, lines), judged(run, cut(lines, number).lines)))


COMBINED_BY_NUMBER = [
    ("compound-clusters/chaos-wh-533", 8),
    ("compound-clusters/chaos-wh-533", 16),
    ("compound-clusters/chaos-keeper-394", 2),
    ("compound-clusters/chaos-loose-540", 18),
    ("other-clusters/rocketmq-452-dledger", 8),
    ("rocketmq-acting-master/chain-two-down", 1),
    ("compound-clusters/sleepy-master", 6),
    ("compound-clusters/two-clusters-one-controller", 18),
    ("redis-sentinel/kill-master-62", 14),
    ("rocketmq-controller/unclean-election", 8),
    ("rocketmq-controller/healthy", 15),
]
"""Real runs and combined cuts that proved more than the whole: rules that failed on two losses of one majority that a
clock that was set holds apart; nobody who ever led, though the file that would say so ends, twice; nobody who ran the
services behind the end of the master's log; a process that died as it ended its start, of which the head is missing;
no writes until a slave acted once more, which had stopped as its master was back; a term that began before the last
one, by a wide time; no master until the former one was back, though sentinels had named another one meanwhile; a last leader that
was stopped with all others, of which one's log ends before."""


@pytest.mark.slow
@pytest.mark.parametrize(("run", "number"), COMBINED_BY_NUMBER)
def test_combined_cut_of_a_real_run_that_proved_too_much_once(corpora: Path, run: str, number: int) -> None:
    lines = story.run_lines(corpora / run)
    assert not list(breaches(judged(run, lines), judged(run, combined_cut(lines, number).lines)))


@pytest.mark.slow
def test_a_master_of_which_a_file_is_missing_is_not_called_silent(corpora: Path) -> None:
    """Between the end of one file and the beginning of the next its lines may be missing."""
    part = cut(story.run_lines(corpora / "other-clusters/rocketmq-510-controllers"), 67)
    assert "master_silent" not in {row.cause for row in judged("part", part.lines) if isinstance(row, Term)}


@pytest.mark.slow
def test_a_clock_that_its_only_file_shows_to_be_set_twice_proves_no_overlap(corpora: Path) -> None:
    """The file with its messages is missing: nothing shows how far the clock was off, behind its last step neither."""
    run = corpora / "compound-clusters/chaos-wh-533"
    lines = story.run_lines(run)
    part = {**lines, "wh-b": [line for line in lines["wh-b"] if line.stream == "broker.log"]}
    assert "SPLIT_BRAIN_OVERLAP" not in {row.rule for row in judged(run.name, part) if isinstance(row, Finding)}


@pytest.mark.slow
def test_a_second_start_of_dledger_is_one_though_most_of_the_first_is_missing(corpora: Path) -> None:
    """store.log ends before the second start, broker_default.log begins behind the first: it shows roles in between."""
    run = corpora / "rocketmq-dledger/kill-leader-533"
    of = story.run_lines(run)["n1"]
    kinds = [line.event.kind if line.event is not None else "" for line in of]
    listened, second = kinds.index("DL_LISTEN"), of[kinds.index("DL_STORE_RECOVER_BEGIN")].time
    part = [line for line in of[listened + 1 :] if line.stream == "broker_default.log"]
    part += [line for line in of if line.stream == "store.log" and line.time < second - 30 * SECOND]
    ends = {row.end_cause for row in judged(run.name, {"n1": part}) if isinstance(row, RoleInterval)}
    assert DIED in ends


@pytest.mark.slow
def test_what_only_the_store_tells_of_a_role_does_not_prove_two_masters(corpora: Path) -> None:
    """Its line comes when the change is done, up to 19 s after its begin: broker.log, which has that, ends before."""
    run = corpora / "compound-clusters/chaos-stock"
    lines = story.run_lines(run)
    first = min(line.time for line in lines["srv-13"])
    end = first + 290 * SECOND
    part = [line for line in lines["srv-13"] if line.stream == "store.log" or line.time < end]
    rows = judged(run.name, {**lines, "srv-13": part})
    overlaps = (row for row in rows if isinstance(row, Finding) and row.rule == "SPLIT_BRAIN_OVERLAP")
    assert not [row for row in overlaps if row.certainty != POSSIBLE and set(row.terms) == {10, 11}]


def lines_of(name: str, seed: int) -> Lines:
    lines: dict[str, list[story.Seen]] = {}
    for (node, stream), texts in sorted(logs_of(played((SCENARIOS | ELECTORATES)[name], seed)).items()):
        lines.setdefault(node, []).extend(story.seen_in(texts, node, stream))
    return lines


# -- the law can fail --------------------------------------------------------------------------------------------


def rows() -> tuple[Finding, Term]:
    """A time without a leader, and a term, of the first scenario that has both."""
    of_story = story.scenario_rows(STORIES / "raft/joint_change_needs_both_majorities.txt")
    finding = next(row for row in of_story if isinstance(row, Finding) and row.rule == "LEADERLESS")
    return finding, next(row for row in of_story if isinstance(row, Term) and row.term == 3)


def test_what_the_whole_says_too_is_no_breach() -> None:
    finding, term = rows()
    assert not list(breaches([finding, term], [finding, term, replace(finding, certainty=POSSIBLE, nodes=("x",))]))


def test_a_new_finding_is_a_breach() -> None:
    finding, _ = rows()
    assert [breach[:3] for breach in breaches([], [finding])] == ["new"]


def test_what_one_line_says_is_one_thing_at_whatever_time_and_of_nobody_else() -> None:
    finding, _ = rows()
    later = replace(finding, start_time=10**18, end_time=10**18)
    assert finding.evidence
    assert not list(breaches([finding], [later]))
    assert list(breaches([finding], [replace(later, evidence=("other.log:1",))]))
    assert list(breaches([finding], [replace(later, nodes=(*later.nodes, "x"))]))


def test_of_the_starts_of_a_broker_that_cut_its_queues_the_whole_tells_the_last() -> None:
    finding, _ = rows()
    last = replace(finding, rule="QUEUES_CUT_AT_START", evidence=(), duration_min_ms=None)
    before = replace(last, start_time=0, end_time=0)
    assert not list(breaches([last], [before]))
    assert list(breaches([before], [last]))


def test_a_certainty_that_rises_is_a_breach() -> None:
    finding, _ = rows()
    assert finding.certainty == DEFINITE
    assert [breach[:5] for breach in breaches([replace(finding, certainty=POSSIBLE)], [finding])] == ["risen"]


def test_a_least_that_grows_is_a_breach() -> None:
    finding, _ = rows()
    assert [breach[:5] for breach in breaches([replace(finding, duration_min_ms=10)], [finding])] == ["least"]


def test_another_leader_or_cause_is_a_breach() -> None:
    _, term = rows()
    assert len(list(breaches([term], [replace(term, leader="other")]))) == 1
    assert len(list(breaches([term], [replace(term, cause="leadership_transfer")]))) == 1
    assert not list(breaches([replace(term, cause="first_leader")], [term]))


def test_a_death_of_who_lived_on_is_a_breach() -> None:
    of_story = story.scenario_rows(STORIES / "dledger/term_goes_back_after_a_restart.txt")
    role = next(row for row in of_story if isinstance(row, RoleInterval) and row.source_node and row.end_time is None)
    died = replace(role, end_time=role.start_time + 60 * SECOND, end_cause=DIED)
    assert [breach.split()[1] for breach in breaches([role], [died])] == [DIED]
    assert not list(breaches([died], [replace(died, end_time=role.start_time + 30 * SECOND)]))
