"""Granted votes, from the rows of elections."""

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.lanes import lane_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row

VOTES = """
    SELECT term, candidate, voter, end_time AS happened_at FROM (
        SELECT term, candidate, unnest(voters) AS voter, end_time FROM elections
        WHERE cluster = ? AND replica_group = ? AND end_time BETWEEN ? AND ?
    ) WHERE voter <> candidate ORDER BY happened_at, term, voter LIMIT ?
"""


def votes_of(published: Published, incident: Incident, at_most: int | None = None) -> list[Row]:
    """Return the votes in the window of an incident, with the time at which the candidate's log ends the round.

    Times are on the clocks of the incident. A candidate's vote for itself is left out.
    """
    sources = dict(map(lane_of, incident.members))
    asked = [incident.cluster, incident.group, incident.begin, incident.end, at_most]
    votes = published.rows(VOTES, asked)
    for vote in votes if incident.raw else ():
        vote["happened_at"] = incident.clocks.as_shown.adjusted(sources.get(vote["candidate"]), vote["happened_at"])
    return votes
