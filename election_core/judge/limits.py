"""``LOG_GAP``: gaps that limit the verdicts on a group.

log    |||||||||          |||||||||      a gap of ten seconds or more inside one process run: LOG_GAP
"""

from collections.abc import Iterator

from election_replay.election_core.judge.coverage import counted
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.judge.rhythm import Rhythms, gap_of, starting
from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model.catalogue import INFO, POSSIBLE, PROVEN, RuleId
from election_replay.election_core.model.facts import Alive, Silence
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import SECOND, Timeout


def log_gaps(group: Group) -> Iterator[Finding]:
    """Yield a ``LOG_GAP`` finding for each gap in the logs of members. It is possible only, where the clock is known to
    be set at some time: no line shows when a clock is set forward again."""
    for silence in interrupting(group):
        if silence.until is None:
            continue
        was_set = silence.source_node in group.clocks.stepped
        yield group.finding(
            RuleId.LOG_GAP,
            (silence.source_node, silence.since // SECOND),
            severity=INFO,
            certainty=POSSIBLE if was_set else PROVEN,
            nodes=(silence.who,),
            when=(silence.since, silence.until),
            summary=f"The logs of {silence.who} ({silence.source_node}) are silent for "
            f"{seconds(silence.until - silence.since)}: frozen, or its lines were lost"
            f"{', or its clock was set forward' if was_set else ''}.",
            evidence=tuple(e for e in (silence.since_event, silence.until_event) if e),
            lasted=(silence.until - silence.since_by, (silence.until_by or silence.until) - silence.since),
        )


def log_gap_coverage(group: Group) -> RuleCoverage:
    """Return the coverage of ``LOG_GAP``: one check per gap, and one per member whose log has none. A member is
    undecidable when its log has silences, but no rhythm that would make them gaps."""
    found = list(log_gaps(group))
    silent = {silence.source_node for silence in _silences(group)}
    untold = len(silent - {silence.source_node for silence in interrupting(group)})
    speaking = {fact.source_node for fact in group.of(Alive)}
    checked = len(speaking - silent) + len(found) + untold
    return counted(group, RuleId.LOG_GAP, found, checked, _NO_RHYTHM, untold=untold)


_NO_RHYTHM = "the lines of a log come as things happen, or are a part of it: its holes say nothing"


def _silences(group: Group) -> Iterator[Silence]:
    """Yield the closed silences of the group, but those while a process starts."""
    return (silence for silence in group.of(Silence) if silence.until is not None and not starting(group, silence))


def interrupting(group: Group) -> Iterator[Silence]:
    """Yield the silences of logs that have a rhythm, except those that a clock set forward only skipped."""
    rhythms = group.once(Rhythms)
    for silence in _silences(group):
        gap, end = gap_of(silence), until(silence)
        if gap is None or end is None or not rhythms.stopped(silence.source_node, gap):
            continue
        if group.clocks.elapsed(since(silence), end)[0] >= Timeout.SEGMENT_GAP.us:
            yield silence
