"""The story of an incident in sentences: leaders and reasons of changes, ends and returns of members, findings, losses.

Changes of leadership are in the order of their terms, which no clock can reverse; all other entries are sorted by time.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from election_replay.election_core.fold.roles import SEEN
from election_replay.election_core.judge.wording import seconds as duration
from election_replay.election_core.model.catalogue import POSSIBLE, RuleId
from election_replay.election_core.model.timing import Timeout
from election_replay.jobs.reading.endings import ENDED, ended, endings_in_words
from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.notices import Notice
from election_replay.jobs.reading.words import (
    Row,
    clock,
    leader_word,
    listed,
    role_word,
    spoken,
    term_word,
    times,
    undecidable,
)

STATE_LOST = frozenset({RuleId.TERM_REGRESSION, RuleId.EPOCH_REGRESSION, RuleId.BROKER_IDENTITY_RESET})
"""Rules about a member that lost persistent state; the story has their findings even if another one implies them."""

BECAUSE = {
    "asked": "a lower member asked for it",
    "elected_again": "the controllers had taken {old} for dead and elected it again",
    "election_timeout": "the heartbeats of {old} did not arrive any more",
    "epoch": "it took a larger {word} without votes",
    "first_leader": "the first one",
    "first_master": "the first one",
    "heartbeat_timeout": "the heartbeats of {old} did not arrive any more",
    "larger_epoch": "another member had a larger epoch",
    "larger_term": "a member had come with a larger {word}",
    "leader_died": "{old} had died",
    "leader_lost": "{old} was lost",
    "leader_silent": "{old} was not heard any more",
    "leader_stopped": "{old} had been stopped",
    "leadership_transfer": "it was handed over",
    "lower_leader": "a lower member led",
    "manual": "an operator asked for it",
    "master_down": "enough sentinels took {old} for down",
    "master_failed": "a majority of the masters took {old} for failed",
    "master_inactive": "the controllers had lost the heartbeats of {old}",
    "master_lost": "{old} was gone",
    "master_silent": "{old} did not answer",
    "moved": "the controllers moved it",
    "master_stopped": "{old} had been stopped",
    "preferred_leader": "it is the preferred one and was back",
    "promoted": "it was told to",
    "quorum_lost": "a leader had lost its quorum",
    "requested": "somebody asked for it, since the controllers had not lost {old}",
    "start": "it had started and found no leader",
    "stepped_down": "{old} had given its role up",
    "takeover": "an operator had it take over without votes",
    "term_raised": "a member had come with a larger {word}",
    "unclean": "no replica in sync was left, and one that lacked messages was taken",
    "user_request": "an operator asked for it",
}
"""Phrases for the cause of an election; other causes are left out."""

NOT_KNOWN = frozenset({"reachable", "unknown"})
"""States of an old leader that do not explain why the next one was elected."""
MISSED = frozenset(
    {
        *("election_timeout", "heartbeat_timeout", "leader_lost", "master_lost", "master_silent", "master_inactive"),
        *("leader_died", "leader_silent", "leader_stopped", "master_stopped", "quorum_lost", "stepped_down"),
    }
)
"""Causes that only say that the old leader was missed; left out if its state is known."""

RAISED = frozenset({"larger_epoch", "larger_term", "term_raised"})
"""Causes that the state of an old leader tells which gave up for a larger term."""

HANDED_OVER = frozenset({"leadership_transfer", "preferred_leader"})
"""Causes of elections that the old leader itself wanted."""

TAKEN_FOR_DEAD = frozenset({"master_inactive", "elected_again"})
"""Causes that say that the controllers had lost the master's heartbeats: the election alone did not end its role."""

MISSED_FROM_ANOTHER = frozenset({"election_timeout", "heartbeat_timeout", "master_down", "master_failed"})
"""Causes that a returning leader must have had for another leader meanwhile, which no line shows; left out."""

MEANWHILE = {
    "died": "{old} had died.",
    "ended": "{old} had been killed or stopped.",
    "stopped": "{old} had been shut down.",
    "removed": "{old} had been removed.",
    "ended_itself": "{old} had failed, and its log says why.",
    "silent": "The log of {old} just stops.",
    "frozen": "{old} was frozen{later}.",
    "overloaded": "{old} ran too slowly to be heard{later}.",
    "members_died": "{old} had lost its quorum, because too many of the others had ended{later}.",
    "toppled": "{old} ran, and gave up because a member came with a larger {word}.",
    "cut_off": "{old} was alive but cut off{later}.",
    "not_told": "{old} was alive and had not been told{later}.",
    "without_quorum": "{old} had lost its quorum{later}.",
    "reachable": "{old} was alive and heard of it at once: only the election ended its role.",
    "unknown": "What {old} was then, the logs do not say.",
}
"""Sentences for the state of the old leader."""
HEARD_AT_ONCE = "{old} was alive and heard of it at once."

AGAIN = {
    "reachable": "It was alive: only the election ended its role.",
    "unknown": "What it was in between, the logs do not say.",
}
"""Sentences that replace these for a leader that leads again."""

ALREADY = frozenset({SEEN, "others_followed"})
"""Start causes of a leadership that had begun before the first line that shows it."""
AT_ONCE = timedelta(milliseconds=500)
"""Times that differ by at most this are called the same."""

ROLE_WORDS = {"leader": "leads", "acting_leader": "acts as leader"}


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """One entry: its time, one or two sentences, and, for a finding, the finding and its depth below its root."""

    at: datetime
    sentence: str
    finding: Row | None = None
    depth: int = 0


NOTICES_SHOWN = 40
"""The maximum number of notices in one story; the rest is counted."""

SAYS_ITS_END = frozenset({"without_quorum", "reachable", "unknown"})
"""States of an old leader whose own log shows the end of its leadership."""

JUST_STARTED = timedelta(seconds=2)
"""The time after its start within which a member reports the leader that it finds."""

MIN_REPORTED = timedelta(microseconds=Timeout.MIN_REPORTED.us)

CAMPAIGN = timedelta(seconds=2)
"""The duration of an election is given if it is at least this."""


def story_by_host(incident: Incident) -> list[StoryEntry]:
    """Return the story for display beside lanes, which show the ids: its sentences name members by host alone."""
    return [
        replace(entry, sentence=incident.by_host(entry.sentence, finding=entry.finding is not None))
        for entry in story(incident)
    ]


def story(incident: Incident) -> list[StoryEntry]:
    """Return the entries of the story in order."""
    entries: list[tuple[datetime, float, list[StoryEntry]]] = []
    latest: dict[str, datetime] = {}
    last: dict[str, Row] = {}
    for change in sorted(
        incident.course.changes, key=lambda change: (change["protocol"], change["new_term"], change["changed_at"])
    ):
        at = change["changed_at"]
        latest[change["protocol"]] = placed = max(at, latest.get(change["protocol"], at))
        words = change_in_words(incident, change) + possible_delay(incident, at, change["source_node"])
        entries.append((placed, 1, [StoryEntry(at, words)]))
        last[change["protocol"]] = change
    entries += [
        (change["end_time"], 1, [StoryEntry(change["end_time"], words)])
        for change in last.values()
        if (words := given_up_in_words(incident, change))
    ]
    for role in incident.course.services:
        words = service_in_words(incident, role) + possible_delay(incident, role["start_time"], role["source_node"])
        entries.append((role["start_time"], 1, [StoryEntry(role["start_time"], words)]))
    for ending in endings_in_words(incident):
        rose = any(
            each["changed_at"] == ending.at and each["new_leader"] in ending.nodes for each in incident.course.changes
        )
        words = ending.sentence + possible_delay(incident, ending.at, *ending.sources)
        entries.append((ending.at, 1.5 if rose else 0, [StoryEntry(ending.at, words)]))
    entries += [
        (notice.at, NOTICED, [StoryEntry(notice.at, notice_in_words(incident, notice))])
        for notice in incident.course.notices[:NOTICES_SHOWN]
    ]
    lesser = not entries and not any(finding["severity"] != "info" for finding in incident.findings)
    for root in incident.roots:
        findings = [
            StoryEntry(finding["start_time"], finding["summary"], finding, depth)
            for depth, finding in incident.tree(root)
        ]
        shown = [
            finding
            for finding in findings
            if belongs_in_story(finding, lesser=lesser or bool(incident.course.seen_roles))
        ]
        if shown:
            entries.append((root["start_time"], 2, shown if shown[0].depth == 0 else [findings[0], *shown]))
    entries.sort(key=lambda entry: (entry[0], entry[1], "" if entry[1] == NOTICED else entry[2][0].sentence))
    return [entry for _, _, together in entries for entry in together]


NOTICED = 1.25
"""The place of notices among the entries of one time; they stay in the order in which they were written."""


def possible_delay(incident: Incident, at: datetime, *sources: str | None) -> str:
    """Return a sentence about by how much an entry may be later, if a clock's offset is known badly; else empty."""
    late_by = timedelta(0) if incident.raw else max(incident.clocks.late_by(source, at) for source in sources)
    return (
        f" All of this may have been up to {duration(late_by // timedelta(microseconds=1))} later." if late_by else ""
    )


def belongs_in_story(entry: StoryEntry, *, lesser: bool) -> bool:
    """Return True if a finding is part of the story; critical ones always are. ``lesser``: severity info too."""
    finding = entry.finding
    return finding is not None and (
        finding["severity"] == "critical"
        or ((lesser or finding["severity"] != "info") and entry.depth == 0)
        or finding["rule"] in STATE_LOST
    )


def change_in_words(incident: Incident, change: Row) -> str:
    """Return the sentences about a change of leadership."""
    leader, word = leader_word(change["protocol"]), term_word(change["protocol"])
    who = incident.called(change["new_leader"], change["source_node"])
    again = change.get("old_leader") == change["new_leader"]
    first = "old_leader" not in change  # FIRST has no such column
    before = first or change["start_cause"] == SEEN or reported_after_start(incident, change)
    already = change["start_cause"] in ALREADY and before
    if already:
        over = first_seen_at_end(change)
        ends = f"; its lead ends here{how_service_ended(change)}" if over else ""
        who = f"{who} {'led' if over else 'leads'} ({word} {change['new_term']}); no line says since when{ends}"
    else:
        who = f"{who} becomes {leader}{' again' if again else ''} ({word} {change['new_term']}){campaign(change)}"
    if first:
        return f"{who}." if change["start_cause"] in ALREADY else f"{who}, the first one that is seen."
    old = "it" if again else incident.called(change["old_leader"])
    state = ended(change["old_leader_state"], change["protocol"])
    why = reason_in_words(change, old, state, again=again)
    meanwhile = old_leader_template(change, state, again=again)
    older = "It" if again and (why or state in NOT_KNOWN) else old
    was = meanwhile.format(old=older, later=gave_up_in_words(change), word=word)
    if state == "unknown" and not again and (tenure := ended_tenure(incident, change)):
        was = "" if first_seen_at_end(tenure) else f"{old} led no longer{how_service_ended(tenure)}."
    elif state == "unknown" and not again and (both := overlap_at(incident, change)):
        until = f", until {clock(both['end_time'])}" if both["end_time"] else ""
        was = f"{old} was still {leader}{until}."
    if already:
        sentence = " ".join(part for part in (f"{who}.", why and f"Before that, {why}.", was) if part)
    elif not why and state not in NOT_KNOWN:
        sentence = f"{who}: {was[0].lower() + was[1:] if was.startswith('The ') else was}"
    else:
        sentence = " ".join(part for part in (f"{who}: {why}." if why else f"{who}.", was) if part)
    return sentence + log_gap_in_words(incident, change) + leaderless_in_words(incident, change)


def overlap_at(incident: Incident, change: Row) -> Row | None:
    """Return the finding that shows that the old leader still led when the new one began, if it is sure."""
    return next(
        (
            finding
            for finding in incident.findings
            if finding["rule"] == RuleId.SPLIT_BRAIN_OVERLAP
            and finding["certainty"] != POSSIBLE
            and {change["old_leader"], change["new_leader"]} <= {*finding["nodes"]}
            and {change["old_term"], change["new_term"]} <= {*finding["terms"]}
        ),
        None,
    )


def ended_tenure(incident: Incident, change: Row) -> Row | None:
    """Return the old leader's time in the lead, if a line says how it ended before the next leader began."""
    return next(
        (
            row
            for row in incident.course.changes
            if (row["new_leader"], row["new_term"]) == (change["old_leader"], change["old_term"])
            and row["end_cause"] in GIVES_UP
            and ends_by_its_log(row)
            and row["end_time"] <= change["changed_at"]
        ),
        None,
    )


def ends_by_its_log(change: Row) -> bool:
    """Return True if the leader's log says when its leadership ended: what others heard of it ends with their logs."""
    return change.get("source_node") is not None and change.get("end_time") is not None


def given_up_in_words(incident: Incident, change: Row) -> str:
    """Return the sentence that the last known leader gave up; empty if another entry says so."""
    cause = change.get("end_cause")
    if cause is None or cause in ENDED or not ends_by_its_log(change) or first_seen_at_end(change):
        return ""
    if any(row["leader"] for row in incident.course.now) or any(
        each["rule"] == RuleId.LEADERLESS and change["new_term"] in each["terms"] for each in incident.findings
    ):
        return ""
    who = incident.called(change["new_leader"], change["source_node"])
    return f"{who} leads no longer{how_service_ended(change)}; no line says who led next."


def reported_after_start(incident: Incident, change: Row) -> bool:
    """Return True if a leader is first seen just after some member's start, so that it may have led for long."""
    backs = (ending["starts_again"] for ending in incident.course.endings)
    return any(back and timedelta(0) <= change["changed_at"] - back < JUST_STARTED for back in backs)


def log_gap_in_words(incident: Incident, change: Row) -> str:
    """Return a sentence about the gap in the old leader's log over a change, if its state is unknown; else empty.

    It is empty for a wrong clock too, which may have been set during the gap.
    """
    hole = change.get("hole")
    if hole is None or hole["source_node"] in {wrong.source for wrong in incident.clocks.wrong}:
        return ""
    return f" Its log has no line from {clock(hole['since'])} to {clock(hole['until'])}."


def first_seen_at_end(change: Row) -> bool:
    """Return True if the first line that shows a leadership is the one that ends it."""
    end = change.get("end_time")
    return change["start_cause"] == SEEN and end is not None and end - change["changed_at"] < AT_ONCE


def leaderless_in_words(incident: Incident, change: Row) -> str:
    """Return a sentence about the time without a leader before a change, unless a finding has it; else empty."""
    end, state = change["old_leader_end"], change["old_leader_state"]
    if end is None or state not in SAYS_ITS_END or change["changed_at"] - end < MIN_REPORTED:
        return ""
    if any(each["rule"] == RuleId.LEADERLESS and change["new_term"] in each["terms"] for each in incident.findings):
        return ""
    length = duration((change["changed_at"] - end) // timedelta(microseconds=1))
    if state == "unknown":
        return f" The last sign of its lead is of {clock(end)}: no line shows a leader for {length}."
    return f" It had led until {clock(end)}: no line shows a leader for {length}."


def reason_in_words(change: Row, old: str, state: str, *, again: bool) -> str:
    """Return the phrase for the cause of an election; empty if the old leader's state explains it."""
    cause = change["cause"] or ""
    explained = (cause in MISSED and state not in NOT_KNOWN) or (cause in RAISED and state == "toppled")
    if explained or (again and cause in MISSED_FROM_ANOTHER):
        return ""
    return BECAUSE.get(cause, "").format(old=old, word=term_word(change["protocol"]))


def old_leader_template(change: Row, state: str, *, again: bool) -> str:
    """Return the sentence template about the old leader's state; empty if it handed over."""
    cause = change["cause"] or ""
    if cause in HANDED_OVER and state == "reachable":
        return ""
    if cause in TAKEN_FOR_DEAD and state == "reachable":
        return HEARD_AT_ONCE
    return AGAIN.get(state, MEANWHILE[state]) if again else MEANWHILE[state]


def gave_up_in_words(change: Row) -> str:
    """Return the phrase about when the old leader gave up, relative to the start of the next one."""
    end = change["old_leader_end"]
    if end is None:
        return "; no line says that it gave up"
    after = end - change["changed_at"]
    if after > AT_ONCE:
        return f", and gave up {duration(after // timedelta(microseconds=1))} later"
    return ", and gave up at the same time" if after > timedelta(0) else ", and had given up"


def campaign(change: Row) -> str:
    """Return the phrase about how long the new leader had asked for votes; empty if shorter than :data:`CAMPAIGN`."""
    asked = change["asked_first"]
    if asked is None or change["changed_at"] - asked < CAMPAIGN:
        return ""
    length = duration((change["changed_at"] - asked) // timedelta(microseconds=1))
    rounds = f" and {change['rounds']:,} rounds" if (change["rounds"] or 0) > 1 else ""
    return f", won after {length}{rounds}"


def notice_in_words(incident: Incident, notice: Notice) -> str:
    """Return the sentence of a notice with the display names of its speakers."""
    return notice.sentence(dict.fromkeys(speaker(incident, *named) for named in notice.speakers))


def speaker(incident: Incident, node: str | None, source: str) -> str:
    """Return the display name of the member that wrote a line; of its machine if that has several members, or if it
    wrote the line as a member of another group."""
    if node is None or node not in incident.names:
        of_source = [member["node"] for member in incident.members if member["source_node"] == source]
        return incident.called(of_source[0], source) if len(of_source) == 1 else source
    return incident.called(node, source)


def beyond(incident: Incident) -> Iterator[str]:
    """Yield sentences about what the story leaves out or could not find: further notices, no entries, seen roles."""
    left = len(incident.course.notices) - NOTICES_SHOWN
    if left > 0:
        yield f"And {left:,} more lines of this sort, to {clock(incident.course.notices[-1].until)}."
    course = incident.course
    entries = (course.seen_roles, course.notices, course.changes, course.services, course.endings, incident.findings)
    if not any(entries):
        yield f"No line of {clock(incident.begin)} to {clock(incident.end)} tells a role, an end or a fault."
    if (protocol := without_known_leader(incident)) is not None:
        yield (
            f"No line says who became {leader_word(protocol)}. Looked for, from {clock(incident.begin)} to "
            f"{clock(incident.end)}: who leads and why that changes, who starts or ends, and what breaks a rule of "
            f"{spoken(protocol)}."
        )
    for (node, source), of_member in groupby(
        incident.course.seen_roles, key=lambda row: (row["node"], row["source_node"])
    ):
        seen = "; ".join(seen_role_in_words(incident, row) for row in of_member)
        yield f"Seen of {incident.called(node, source)}: {seen}."


def without_known_leader(incident: Incident) -> str | None:
    """Return the protocol whose leader no line names in the window; None if one is named, or a finding says more."""
    course = incident.course
    if course.changes or course.services or (incident.findings and not course.seen_roles):
        return None
    rows = course.seen_roles or [row for row in course.now if row["leader"] is None]
    return rows[0]["protocol"] if rows else None


def seen_role_in_words(incident: Incident, row: Row) -> str:
    """Return a phrase about a role of a member: whom it follows, how often, and from when to when."""
    often = f" {times(row['spans'])}" if row["spans"] > 1 else ""
    until = f" to {clock(row['end_time'])}" if row["end_time"] else " to the end of its log"
    whom = f" of {incident.called(row['leader'])}" if row["role"] == "follower" and row["leader"] else ""
    return f"{role_word(row['role'], row['protocol'])}{whom}{often} from {clock(row['start_time'])}{until}"


SERVICE_ENDED = {
    "died": ": it died",
    "stopped": ": it was stopped",
    "silent": ": its log just stops",
    "quorum_lost": ": it gave up for want of a quorum",
    "larger_term": ": it heard of a larger {word}",
}
"""Phrases for the end of a leader's service."""


GIVES_UP = frozenset({"quorum_lost", "larger_term"})
"""End causes of leaders that keep running."""


def how_service_ended(row: Row) -> str:
    """Return the phrase for the end of a leader's service; empty where its cause has none."""
    return SERVICE_ENDED.get(row["end_cause"], "").format(word=term_word(row["protocol"]))


def service_in_words(incident: Incident, role: Row) -> str:
    """Return the sentence about a service period of a master or acting master."""
    serves = f"serves as {leader_word(role['protocol'])}"
    service = serves if role["role"] == "leader" else "acts as master, read only"
    who, end = incident.called(role["node"], role["source_node"]), role["end_time"]
    why = how_service_ended(role)
    if role["start_cause"] == SEEN:
        unknown = f"({term_word(role['protocol'])} not known)"
        led = f"led {unknown} until {clock(end)}{why}" if end else f"leads {unknown}"
        return f"{who} {led}; no line says since when.{without_leader_in_words(incident, end)}"
    until = f", until {clock(end)}{why}" if end else ""
    return f"{who} {service}{until}."


def without_leader_in_words(incident: Incident, end: datetime | None) -> str:
    """Return a sentence about the time from the end of a leadership without a known term to the next leader; empty
    where there is none, or where a finding has a time without a leader."""
    if end is None or any(each["rule"] == RuleId.LEADERLESS for each in incident.findings):
        return ""
    after = min((each["changed_at"] for each in incident.course.changes if each["changed_at"] >= end), default=end)
    if after - end < MIN_REPORTED:
        return ""
    return f" No line shows a leader for {duration((after - end) // timedelta(microseconds=1))}."


OBSERVES, LOOKS, DOWN = ("observes", "observe"), ("looks for a leader", "look for a leader"), ("is down", "are down")
REMOVED = ("is removed", "are removed")
NOT_KNOWN_WHAT = ("has an unknown role", "have an unknown role")
WORDS = (OBSERVES, LOOKS, DOWN, REMOVED, NOT_KNOWN_WHAT)
"""Phrases, singular and plural, for members that neither lead nor follow at the end of the logs."""
BESIDES = {"observer": OBSERVES, "candidate": LOOKS, "down": DOWN, "removed": REMOVED}


def outcome(incident: Incident) -> Iterator[str]:
    """Yield sentences about the leaders and other members at the end of the logs.

    A leader whose log ends before the next one led is left out.
    """
    called = incident.names
    newest = max((row["since"] for row in incident.course.now if row["since"]), default=None)
    for row in incident.course.now:
        if newest and row["since"] and row["as_of"] and row["as_of"] < newest:
            continue
        there = {row["leader"], *row["followers"]}  # a member with two logs may also be among the others
        last = {each["node"]: each["role"] for each in row["last_roles"] or ()}
        besides = {
            word: [n for n in row["others"] if n not in there and BESIDES.get(last[n], NOT_KNOWN_WHAT) == word]
            for word in WORDS
        }
        parts = [
            f"{listed([called.get(node, node) for node in nodes])} {words[len(nodes) > 1]}"
            for words, nodes in {("follows", "follow"): row["followers"], **besides}.items()
            if nodes
        ]
        leader = called.get(row["leader"], row["leader"])
        followed = {each["leader"] for each in row["last_roles"] or () if each["role"] == "follower"} - {None, *last}
        who = f"{leader} {ROLE_WORDS[row['role']]}" if leader else nobody_leads(incident, followed)
        as_of = f" ({clock(row['as_of'])})" if row["as_of"] else ""
        yield f"At the end of the logs{as_of} {', '.join([who, *parts])}."


def nobody_leads(incident: Incident, followed: Collection[str]) -> str:
    """Return the phrase for an end without a leader: definite only if a finding proves that there was none. Members may
    have ``followed`` one of which no log is here."""
    to_the_end = (
        finding["rule"] == RuleId.LEADERLESS and finding["end_time"] is None and finding["certainty"] != POSSIBLE
        for finding in incident.findings
    )
    if any(to_the_end):
        return "nobody leads"
    if len(followed) == 1:
        return f"{incident.called(next(iter(followed)))} leads by the word of others"
    return "members follow different leaders" if followed else "no line says who leads"


def unseen(incident: Incident) -> Iterator[str]:
    """Yield sentences about what the logs do not show, so that readers do not conclude anything from it."""
    for row in incident.coverage:
        yield undecidable(row)
    for member in incident.members:
        if member["source_node"] is None:
            yield f"No log of {incident.called(member['node'])} is here: others speak of it."
    for role in incident.course.silences:
        who = incident.called(role["node"], role["source_node"])
        yield f"The log of {who} just stops at {clock(role['start_time'])} while others go on."
    if incident.quarantined:
        unread = f"{incident.quarantined:,} lines of {incident.cluster}"
        yield f"{unread} could not be read: table quarantine says which, and why."
    if not incident.coverage and not incident.quarantined:
        yield "No rule that was judged here was left undecided; what no line shows, none could judge."
