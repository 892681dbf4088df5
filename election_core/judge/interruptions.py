"""Times in which a leader had lost its majority, and led on when it had it again.

leader, term 1   [=========    frozen, or cut off    =========]   nobody else is elected meanwhile
followers                |<--- follow nobody --->|                enough of them that no majority is left
"""

from collections.abc import Iterator

from election_replay.election_core.judge.fates import Fates
from election_replay.election_core.judge.group import Group, LogGap, Tenure
from election_replay.election_core.judge.loss_words import away
from election_replay.election_core.judge.outages import leaderless_outage
from election_replay.election_core.judge.quorum_contact import Interruption, QuorumTracker
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout

MIN_REPORTED = Timeout.MIN_REPORTED.us


def interrupted(
    group: Group, majorities: QuorumTracker, title: str, clock: str, *, only_frozen: bool
) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` findings within a tenure: its leader lost its majority and led on when it had it again.
    ``only_frozen``: only those in which the leader's log is silent."""
    for tenure in group.tenures:
        for interruption in majorities.interruptions(tenure):
            if interruption.least < MIN_REPORTED or (only_frozen and not _silent_in(group, tenure, interruption)):
                continue
            members = away(away.left for away in interruption.away)
            back = min(interruption.away, key=lambda away: away.again.at).left.member
            moments = [moment for away in interruption.away for moment in (away.left.latest, away.again)]
            yield leaderless_outage(
                group,
                Scope.NO_MAJORITY,
                (tenure.term, "interrupted", interruption.begin.at // SECOND),
                (interruption.least, interruption.most),
                led=[tenure],
                when=(interruption.begin.at, interruption.end.at),
                summary=f"No {title} with a majority for {between(interruption.least, interruption.most)}: "
                f"{tenure.with_detail(f'{clock} {tenure.term}')} lost its majority ({members}) and had it again when "
                f"{back} followed it again; it stayed leader in that time and could commit nothing.",
                evidence=[tenure.begin.event_id, *(moment.event_id for moment in moments)],
                former_leader=tenure.node,
                former_leader_fate=group.once(Fates).while_leading(tenure, interruption.begin),
                next_leader=tenure.node,
                served_time=interruption.end.at,
            )


def _silent_in(group: Group, tenure: Tenure, interruption: Interruption) -> bool:
    """Return True when a leader's log is silent for most of a time, at least, in which others did not follow it."""
    elapsed = group.clocks.elapsed

    def within(log_gap: LogGap) -> int:
        begun, over = elapsed(interruption.begin, log_gap.begin)[1], elapsed(log_gap.end, interruption.end)[1]
        return interruption.most - max(begun, 0) - max(over, 0)

    return any(2 * within(log_gap) > interruption.most for log_gap in tenure.silences)
