"""When a leader begins to serve clients, where logs show that apart from its election.

    election        [ leader of term 3 ==================== |
    its process     [ begins its change of role .... done | serves
    another try        [ begins .... | failed, or no end: it never serves, whatever its role

A change of role belongs to the tenure in which it begins. The process works on changes one after the other, so the end
of a change that an earlier tenure began shows nothing about the present one.
"""

from bisect import bisect_left
from operator import attrgetter

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.model.facts import Serving


class Service:
    """The times at which the leaders of a group began to serve."""

    def __init__(self, group: Group) -> None:
        self._changes: dict[str, list[Serving]] = {}
        for change in group.of(Serving):
            self._changes.setdefault(change.source_node, []).append(change)

    def begun(self, tenure: Tenure) -> Moment | None:
        """Return when a leader began to serve; ``None``: its log shows that it never did. A leader whose log shows no
        change of role counts as serving from its election."""
        changes = self._of(tenure)
        if not changes:
            return None if self._busy(tenure) else tenure.begin
        done = (end for change in changes if (end := until(change)) is not None)
        return next((end for end in done if tenure.open or end.at <= tenure.end.at), None)

    def tried(self, tenure: Tenure) -> Moment | None:
        """Return when the last change of role in a tenure began; ``None`` without one."""
        changes = self._of(tenure)
        return since(changes[-1]) if changes else None

    def _of(self, tenure: Tenure) -> list[Serving]:
        """Return the changes of role that a tenure may have begun, in order; a beginning is as wide as its stamp."""
        changes = self._changes.get(tenure.source, [])
        first = bisect_left(changes, tenure.begin.at, key=attrgetter("since_by"))
        return [change for change in changes[first:] if change.since < tenure.end.by and change.term == tenure.term]

    def _busy(self, tenure: Tenure) -> bool:
        """Return True when a change of role of an earlier tenure was under way until the end of this one."""
        changes = self._changes.get(tenure.source, [])
        before = changes[: bisect_left(changes, tenure.begin.at, key=attrgetter("since_by"))][-1:]
        return any(change.until is not None and tenure.end.by <= change.until for change in before)
