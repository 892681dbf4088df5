"""From role changes to role spans: the part of the fold that all protocols share. A protocol notes *steps* ("from here
on this node was follower of n2 in term 4"); :func:`spans` cuts each process run at them. The cause of a span's end is
kept: the next step, a clean stop, a death that a later start proves, or none yet."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at

LEADER = "leader"
ACTING = "acting_leader"
FOLLOWER = "follower"
CANDIDATE = "candidate"
OBSERVER = "observer"
DOWN = "down"
UNKNOWN = "unknown"

SEEN = "status"
"""The begin cause of a role that is seen while it lasts: no line shows its beginning."""
NAMED = "leader_named"
"""The begin cause of a follower to which others named its leader: it did not reach that leader, before or since."""
STOPPED = "stopped"
REMOVED = "removed"
ENDED_ITSELF = "ended_itself"
DIED = "died"
HIGHER_NODE = "higher_node"
"""The end cause of a leader that gave way to a higher member, where the highest member leads."""
TRANSFER = "leadership_transfer"
"""The end cause of a leadership that was handed over on request, and the begin cause of the next one."""
PREFERRED = "preferred_leader"
"""The end cause of a leadership that the leader itself handed to the preferred leader (``checkPreferredLeader``)."""


@dataclass(slots=True, unsafe_hash=True)
class Step:
    """The moment at which a node took a role, in ``[at, by]`` (us, own clock). ``term`` is ``None`` where not logged.
    Treat steps and spans as immutable; they are not frozen because a frozen one takes eight times as long to make."""

    at: int
    by: int
    role: str
    term: int | None
    leader: str | None
    event_id: str | None
    cause: str | None = None
    node: str | None = None
    address: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class Span:
    """A node in one role, from a step to its end; ``until`` is ``None`` at the open end of a log."""

    step: Step
    until: int | None
    until_by: int | None
    until_event: str | None
    end_cause: str | None


def spans(steps: Sequence[Step], incarnations: Sequence[Incarnation], first_role: str) -> Iterator[Span]:
    """Yield the role spans of one node over all its process runs, with DOWN between two runs. ``first_role`` is the
    role of a process from its start to its first step, by the rules of the protocol."""
    every_incarnation = list(incarnations)
    by_incarnation: dict[int, list[Step]] = {}
    for step in steps:
        # A role first seen in a later line began at some time before it, in the same process run.
        number = incarnation_at(every_incarnation, max(step.at, step.by - 1))
        start = every_incarnation[number].start if every_incarnation else None
        begun = step.at if start is None else max(step.at, min(start, step.by))
        by_incarnation.setdefault(number, []).append(step if begun == step.at else replace(step, at=begun))
    for number, incarnation in enumerate(every_incarnation):
        of_incarnation = by_incarnation.get(number, [])
        if incarnation.start is not None and (not of_incarnation or of_incarnation[0].at > incarnation.start):
            began = (incarnation.start, incarnation.first_by)
            begin = Step(*began, first_role, None, None, incarnation.start_event, "start")
            of_incarnation = [begin, *of_incarnation]
        of_incarnation = _in_turn(of_incarnation)
        for step, following in pairwise(of_incarnation):
            yield Span(step, following.at, max(following.by, step.at), following.event_id, following.cause)
        last = _last_span(of_incarnation[-1], incarnation) if of_incarnation else None
        if last is not None and last.step.role == DOWN and incarnation.next_start is not None:
            next_start = (incarnation.next_start, incarnation.next_start_by, incarnation.next_start_event)
            yield Span(last.step, *next_start, "start")  # DOWN already, by the process's own last line
            continue
        if last is not None:
            yield last
        if incarnation.next_start is not None:
            yield _down(incarnation, incarnation.next_start, last)


def _in_turn(steps: Sequence[Step]) -> list[Step]:
    """Return the steps of one run in log order, none before the one before it."""
    kept: list[Step] = []
    for step in steps:
        before = kept[-1].at if kept else step.at
        kept.append(step if step.at >= before else replace(step, at=before, by=max(step.by, before)))
    return kept


def _last_span(step: Step, incarnation: Incarnation) -> Span:
    last_sign = max(incarnation.last_seen, step.at)
    if incarnation.stop is not None:
        stopped_by = max(incarnation.last_by, step.at)
        return Span(step, max(incarnation.stop, step.at), stopped_by, incarnation.stop_event, STOPPED)
    if incarnation.next_start is not None:
        return Span(step, last_sign, incarnation.ended_by, incarnation.next_start_event, DIED)
    return Span(step, None, None, None, None)


def _down(incarnation: Incarnation, next_start: int, last: Span | None) -> Span:
    """Return the span DOWN between two runs, as wide as the stamp of the last sign of life, after the last role."""
    cause = STOPPED if incarnation.stop is not None else DIED
    since = max(
        incarnation.last_seen, last.until if last is not None and last.until is not None else incarnation.last_seen
    )
    begin = Step(since, next_start, DOWN, None, None, incarnation.stop_event, cause, last.step.node if last else None)
    return Span(begin, next_start, incarnation.next_start_by, incarnation.next_start_event, "start")


def joined(found: Iterable[Span]) -> list[Span]:
    """Return the spans without repetitions: the same role, term, leader and cause again in one run is no change."""
    kept: list[Span] = []
    for span in found:
        if kept and _is_repeated(kept[-1], span):
            kept[-1] = replace(span, step=kept[-1].step)
        else:
            kept.append(span)
    return kept


def _is_repeated(span: Span, following: Span) -> bool:
    step, again = span.step, following.step
    alike = (step.role, step.term, step.leader, step.cause) == (again.role, again.term, again.leader, again.cause)
    return alike and span.until == again.at and span.until_event == again.event_id


def merged(steps: Sequence[Step]) -> list[Step]:
    """Return the steps without repetitions: the same role, term and leader again is no change."""
    kept: list[Step] = []
    for step in steps:
        if kept and (kept[-1].role, kept[-1].term, kept[-1].leader) == (step.role, step.term, step.leader):
            if kept[-1].node is None and step.node is not None:
                kept[-1] = replace(kept[-1], node=step.node)
            continue
        kept.append(step)
    return kept
