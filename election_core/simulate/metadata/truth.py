"""The findings that logs and copies prove about metadata, by the real content of the brokers' tables."""

from collections.abc import Iterator
from dataclasses import dataclass

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.acting_master.tables import MASTER_ID
from election_replay.election_core.protocols.metadata.data_version import is_taken_over
from election_replay.election_core.simulate.acting_master import truth as services
from election_replay.election_core.simulate.acting_master.truth import number_of
from election_replay.election_core.simulate.metadata.machine import CONSUMER_FILE, DELAY_FILE, Offsets, Place, Tables
from election_replay.election_core.simulate.truth import Claim, Truth, all_is_shown, downtime, ends_at, lines_of
from election_replay.election_core.simulate.world import SECOND, Tenure, World

_NEAR_US = 20 * SECOND
_SURE_US = 2 * SECOND
_FLUSHED_US = {CONSUMER_FILE: 8 * SECOND, DELAY_FILE: 13 * SECOND}
"""The time in us after which a broker that never stopped has surely written its table again."""
_WORDS = {CONSUMER_FILE: "Consumer offsets", DELAY_FILE: "Delay offsets"}
"""The first words of findings about a file."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """``left`` acted until it heard of ``node``, which served from ``served_us`` on (None: it had never stopped).
    ``taken``: what ``node`` took over, with the versions: file, own, read."""

    left: Tenure
    node: str
    served_us: int | None
    taken: tuple[tuple[str, bool], ...]

    @property
    def end_us(self) -> int:
        """True time (us) at which the acting master heard of the other broker."""
        return self.left.end_us or 0

    @property
    def nodes(self) -> tuple[str, ...]:
        """Both brokers, as findings name them."""
        return tuple(sorted((number_of(self.left.node), number_of(self.node))))

    def took(self, file: str) -> bool:
        """Return True when it took over this table from any member."""
        return any(taken == file for taken, _ in self.taken)


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world: about services and about metadata."""
    found = services.truths(world)
    for handed in hand_overs(world):
        found += _rollbacks(world, handed)
        found += _names(world, handed)
        found += _older_taken(world, handed)
    return sorted(found, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.words))


def tables_at(world: World, node: str, time_us: int) -> Tables:
    """Return the content of a broker's tables at a moment."""
    found = Tables()
    for at, name, say in world.unprinted:
        if at > time_us:
            break
        if name == node and say.kind == "TABLES":
            found = dict(say.values)["tables"]
    return found


def hand_overs(world: World) -> Iterator[HandedOver]:
    """Return every end of an acting time by a smaller id."""
    for tenure in world.tenures:
        if number_of(tenure.node) == MASTER_ID or tenure.how_ended != "stepped down":
            continue
        node = _heard_of(world, tenure)
        starts = [other.begin_us for other in world.tenures if other.node == node]
        served = [time for time in starts if tenure.begin_us < time <= ends_at(world, tenure)]
        yield HandedOver(tenure, node, served[-1] if served else None, _taken(world, node, tenure))


def _heard_of(world: World, tenure: Tenure) -> str:
    """Return the broker with the smaller id that ended an acting time."""
    for line in lines_of(world, "BRK_MIN_CHANGED"):
        if (line.node, line.true_us) == (tenure.node, tenure.end_us):
            return str(line.value("after")[1])
    raise ValueError(f"{tenure.node} stopped to act without a word")


def _taken(world: World, node: str, tenure: Tenure) -> tuple[tuple[str, bool], ...]:
    """Return the files that a returning master took over, and whether the consumers' version allowed it."""
    found: list[tuple[str, bool]] = []
    for at, name, say in world.unprinted:
        if name == node and say.kind == "REVERSED" and tenure.begin_us < at <= ends_at(world, tenure):
            of = dict(say.values)
            found += [(file, is_taken_over(of["own"], of["read"])) for file in of["taken"]]
    return tuple(found)


# -- offsets --------------------------------------------------------------------------------------------------------


def _rollbacks(world: World, handed: HandedOver) -> Iterator[Truth]:
    """Yield ``METADATA_ROLLBACK``: the new one begins behind the old one; with ``STALE_REVERSE_SYNC`` if it took
    over."""
    before, after = _at_hand_over(world, handed)
    for file, old, new in ((CONSUMER_FILE, before.consumer, after.consumer), (DELAY_FILE, before.delay, after.delay)):
        lost: dict[tuple[str, str], dict[Place, int]] = {}
        places = dict(new.of)
        for place, offset in old.of:
            if places.get(place, 0) < offset:
                lost.setdefault(place[:2], {})[place] = offset - places.get(place, 0)
        for (topic, group), entries in lost.items():
            rules = ("METADATA_ROLLBACK", *(("STALE_REVERSE_SYNC",) if handed.took(file) else ()))
            about = f" of {group} on {topic}" if group else ""
            for rule in rules:
                yield _went_back(world, handed, rule, file, about, entries)


def _at_hand_over(world: World, handed: HandedOver) -> tuple[Tables, Tables]:
    """Return the acting master's last tables, and those with which the new one began or goes on."""
    begun = handed.end_us if handed.served_us is None else handed.served_us
    return tables_at(world, handed.left.node, handed.end_us), tables_at(world, handed.node, begun)


def _went_back(world: World, handed: HandedOver, rule: str, file: str, about: str, entries: dict[Place, int]) -> Truth:
    size = sum(entries.values())
    words = f"{_WORDS[file]}{about} went back by {size} when {handed.node} took over from {handed.left.node}."

    def covers(finding: Finding) -> bool:
        named = finding.summary.startswith(f"{_WORDS[file]}{about} ")
        small = finding.certainty != "definite" or (finding.messages_repeated or 0) <= size
        return _same(handed, finding) and named and small

    provable = _copied(world, handed, file, entries)
    return Truth(rule, handed.nodes, (), handed.end_us, None, provable, words, covers)


def _same(handed: HandedOver, finding: Finding) -> bool:
    return finding.nodes == handed.nodes and abs(finding.start_time - handed.end_us) <= _NEAR_US


def _copied(world: World, handed: HandedOver, file: str, entries: dict[Place, int]) -> bool:
    """Return True when copies show it: the acting master's last one, and one of the new one's that is behind it. The
    latter was taken after it served or, if it took nothing over, while its process was dead."""
    if not _all_is_shown(world, handed):
        return False
    acted = handed.left.begin_us + _SURE_US, handed.end_us - _SURE_US
    shown = [table for time, table in copies(world, handed.left.node, file) if acted[0] < time < acted[1]]
    tables = list(copies(world, handed.node, file))
    served = handed.end_us + _FLUSHED_US[file] if handed.served_us is None else handed.served_us + _SURE_US
    later = [table for time, table in tables if time > served]
    stored = [table for time, table in tables if any(died < time < started for died, started in _deaths(world, handed))]
    behind = [*later[:1], *(stored[-1:] if not handed.taken and handed.served_us is not None else [])]
    return any(
        dict(table.of).get(place, 0) < dict(shown[-1].of).get(place, 0)
        for table in behind
        for place in entries
        if shown
    )


def copies(world: World, node: str, file: str) -> Iterator[tuple[int, Offsets]]:
    """Return when a collector copied a broker's file, with the table in it."""
    for time, name, say in world.unprinted:
        content = dict(say.values).get(file) if name == node and say.kind == "COPIED" else None
        if isinstance(content, Offsets):
            yield time, content


def _deaths(world: World, handed: HandedOver) -> list[tuple[int, int]]:
    """Return the times in which the new one's process did not exist, up to when it served."""
    served = handed.served_us or 0
    return [(died + _SURE_US, started) for died, started in downtime(world, handed.node) if started <= served]


def _all_is_shown(world: World, handed: HandedOver) -> bool:
    """Return True when all lines of both brokers are there, and every clock is right."""
    return all_is_shown(world, handed.left.node, handed.node)


# -- topics and groups ----------------------------------------------------------------------------------------------


def _names(world: World, handed: HandedOver) -> Iterator[Truth]:
    """Yield ``METADATA_ROLLBACK``: names created on the acting master that the new one lacks."""
    begun = tables_at(world, handed.left.node, handed.left.begin_us)
    ended = tables_at(world, handed.left.node, handed.end_us)
    now = tables_at(world, handed.node, world.now_us)
    kinds = (
        ("topic", begun.topics, ended.topics, now.topics),
        ("consumer group", begun.groups, ended.groups, now.groups),
    )
    for noun, before, after, kept in kinds:
        lost = sorted(set(after.names) - set(before.names) - set(kept.names))
        if lost:
            words = f"{', '.join(lost)}, made on {handed.left.node}, is not on {handed.node}."
            provable = _all_is_shown(world, handed)
            claim = _lost(handed, f"{len(lost)} {noun}")
            yield Truth("METADATA_ROLLBACK", handed.nodes, (), handed.end_us, None, provable, words, claim)


def _lost(handed: HandedOver, words: str) -> Claim:
    return lambda finding: _same(handed, finding) and finding.summary.startswith(words)


# -- versions -------------------------------------------------------------------------------------------------------


def _older_taken(world: World, handed: HandedOver) -> Iterator[Truth]:
    """Yield ``STALE_REVERSE_SYNC``: a table was taken over although its version is smaller."""
    for file, allowed in handed.taken[:1]:
        if file == CONSUMER_FILE and not allowed:
            words = f"{handed.node} took over consumer offsets whose version is smaller than its own."
            provable = _versions_copied(world, handed, file)
            yield Truth("STALE_REVERSE_SYNC", handed.nodes, (), handed.end_us, None, provable, words, _older(handed))


def _older(handed: HandedOver) -> Claim:
    return lambda finding: _same(handed, finding) and "smaller than its own" in finding.summary


def _versions_copied(world: World, handed: HandedOver, file: str) -> bool:
    """Return True when copies show both versions: the new one's from its death, the old one's from after it was
    read."""
    if handed.served_us is None or not _all_is_shown(world, handed):
        return False
    deaths = _deaths(world, handed)
    versions = [
        table
        for time, table in copies(world, handed.node, file)
        if any(died < time < started for died, started in deaths)
    ]
    read = [table for time, table in copies(world, handed.left.node, file) if time > handed.served_us + _SURE_US]
    if not versions or not read:
        return False
    # Later the former acting master copies the new one's table, and its version with it.
    made_us = (read[0].version[1] or 0) * 1000
    while_acting = handed.left.begin_us + SECOND < made_us < handed.end_us - SECOND
    return while_acting and not is_taken_over(versions[-1].version, read[0].version)
