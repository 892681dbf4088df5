"""The story of an incident in sentences: who led and why that changed, who died or was back, what went wrong and what
that cost.

Changes of leadership stand in the order of their terms, which no clock can turn around; all else by its time.
"""

from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from election_replay.election_core.dialects import SYSTEMS
from election_replay.election_core.fold.roles import SEEN
from election_replay.election_core.judge.wording import seconds as duration
from election_replay.election_core.model.catalogue import POSSIBLE, RuleId
from election_replay.election_core.model.timing import Timeout
from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.notices import Notice
from election_replay.jobs.reading.words import (
    ELSEWHERE,
    LOSSES,
    REPEATED,
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
"""Rules that tell of a member that lost what it must remember; they are told whatever they led to."""

ENDED = {
    "died": "dies",
    "ended": "is killed or stopped",
    "stopped": "is stopped",
    "removed": "is removed",
    "ended_itself": "ends by itself",
    "silent": "falls silent: its log just stops",
}
"""How a member's life ends, in words."""

NO_FAREWELL = frozenset(
    {"zab", *(spoken.protocol for system in SYSTEMS if not system.says_farewell for spoken in system.protocols)}
)
"""Protocols whose processes print nothing when they are told to stop: one that is there no more may have been."""

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
"""Why an election began, in words; of any other reason nothing is said."""

NOT_KNOWN = frozenset({"reachable", "unknown"})
"""What an old leader was that does not say why the next one was elected."""
MISSED = frozenset(
    {
        *("election_timeout", "heartbeat_timeout", "leader_lost", "master_lost", "master_silent", "master_inactive"),
        *("leader_died", "leader_silent", "leader_stopped", "master_stopped", "quorum_lost", "stepped_down"),
    }
)
"""Reasons that only say that the old leader was missed: nothing new where it is known why."""

HANDED_OVER = frozenset({"leadership_transfer", "preferred_leader"})
"""Why an election began that the old leader itself wanted."""

TAKEN_FOR_DEAD = frozenset({"master_inactive", "elected_again"})
"""Why a master was replaced of which the controllers heard nothing: something did end its role."""

MISSED_FROM_ANOTHER = frozenset({"election_timeout", "heartbeat_timeout", "master_down", "master_failed"})
"""Why somebody leads again who led itself before: another one was missed meanwhile, whom no line shows as leader."""

MEANWHILE = {
    "died": "{old} had died.",
    "ended": "{old} had been killed or stopped.",
    "stopped": "{old} had been shut down.",
    "removed": "{old} had been removed.",
    "ended_itself": "{old} had ended by itself.",
    "silent": "The log of {old} just stops.",
    "frozen": "{old} was frozen{later}.",
    "overloaded": "{old} ran too slowly to be heard{later}.",
    "members_died": "{old} had lost its quorum, because too many of the others had ended{later}.",
    "toppled": "{old} ran, and gave up because a member came with a larger term.",
    "cut_off": "{old} was alive but cut off{later}.",
    "not_told": "{old} was alive and had not been told{later}.",
    "without_quorum": "{old} had lost its quorum{later}.",
    "reachable": "{old} was alive and heard of it at once: only the election ended its role.",
    "unknown": "What {old} was then, the logs do not say.",
}
"""What had become of the old leader, in words."""
HEARD_AT_ONCE = "{old} was alive and heard of it at once."

AGAIN = {
    "reachable": "It was alive: only the election ended its role.",
    "unknown": "What it was in between, the logs do not say.",
}
"""The same of a leader that leads again, where it is said otherwise."""

ALREADY = frozenset({SEEN, "others_followed"})
"""How a leadership begins that the logs show as it goes on already."""
AT_ONCE = timedelta(milliseconds=500)
"""What lies no further apart than this happened at the same time, as people say it."""

ROLE_WORDS = {"leader": "leads", "acting_leader": "acts as leader"}


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """One entry: when, what in one sentence or two, the finding that says so, if it is one, and how far below its root
    it stands."""

    at: datetime
    sentence: str
    finding: Row | None = None
    depth: int = 0


NOTICES_SHOWN = 40
"""Lines that no rule judges of which one story tells; the rest is counted."""

SAYS_ITS_END = frozenset({"without_quorum", "reachable", "unknown"})
"""What becomes of an old leader whose own log tells when its leadership ended."""

JUST_STARTED = timedelta(seconds=2)
"""So soon after its start a member says whom it finds leading."""

MIN_REPORTED = timedelta(microseconds=Timeout.MIN_REPORTED.us)

BLURRED = timedelta(seconds=1)
"""A death that no line dates better than this is told between its bounds."""

CAMPAIGN = timedelta(seconds=2)
"""An election that took longer than this is told with how long it took."""


def story_by_host(incident: Incident) -> list[StoryEntry]:
    """The story beside lanes, which say which id each host has: its sentences call members by host alone."""
    return [
        replace(entry, sentence=incident.by_host(entry.sentence, finding=entry.finding is not None))
        for entry in story(incident)
    ]


def story(incident: Incident) -> list[StoryEntry]:
    """Who led and why that changed, who ended or was back, and what went wrong: by term, then by time."""
    entries: list[tuple[datetime, float, list[StoryEntry]]] = []
    latest: dict[str, datetime] = {}
    last: dict[str, Row] = {}
    for change in sorted(
        incident.course.changes, key=lambda change: (change["protocol"], change["new_term"], change["changed_at"])
    ):
        at = change["changed_at"]
        latest[change["protocol"]] = placed = max(at, latest.get(change["protocol"], at))
        words = change_in_words(incident, change) + perhaps_later(incident, change["source_node"], at)
        entries.append((placed, 1, [StoryEntry(at, words)]))
        last[change["protocol"]] = change
    entries += [
        (change["end_time"], 1, [StoryEntry(change["end_time"], words)])
        for change in last.values()
        if (words := given_up_in_words(incident, change))
    ]
    for role in incident.course.services:
        words = service_in_words(incident, role) + perhaps_later(incident, role["source_node"], role["start_time"])
        entries.append((role["start_time"], 1, [StoryEntry(role["start_time"], words)]))
    for ending, count, last in alike(incident.course.endings):
        at = ending["end_time"]
        words = ending_in_words(incident, ending, count, last) + perhaps_later(incident, ending["source_node"], at)
        rose = any(
            each["changed_at"] == at and each["new_leader"] == ending["node"] for each in incident.course.changes
        )
        entries.append((at, 1.5 if rose else 0, [StoryEntry(at, words)]))
    entries += [
        (notice.at, 1, [StoryEntry(notice.at, notice_in_words(incident, notice))])
        for notice in incident.course.notices[:NOTICES_SHOWN]
    ]
    lesser = not entries and not any(finding["severity"] != "info" for finding in incident.findings)
    for root in incident.roots:
        findings = [
            StoryEntry(finding["start_time"], finding["summary"], finding, depth)
            for depth, finding in incident.tree(root)
        ]
        shown = [finding for finding in findings if is_told(finding, lesser=lesser or bool(incident.course.seen_roles))]
        if shown:
            entries.append((root["start_time"], 2, shown if shown[0].depth == 0 else [findings[0], *shown]))
    entries.sort(key=lambda entry: (entry[0], entry[1], entry[2][0].sentence))
    return [entry for _, _, together in entries for entry in together]


def perhaps_later(incident: Incident, source: str | None, at: datetime) -> str:
    """How much later than told all of this may have been, where little is known of how far the clock was ahead."""
    late_by = timedelta(0) if incident.raw else incident.clocks.late_by(source, at)
    return (
        f" All of this may have been up to {duration(late_by // timedelta(microseconds=1))} later." if late_by else ""
    )


def is_told(entry: StoryEntry, *, lesser: bool) -> bool:
    """Whether a finding belongs into the story; none that is critical is ever left out. ``lesser``: information too."""
    finding = entry.finding
    return finding is not None and (
        finding["severity"] == "critical"
        or ((lesser or finding["severity"] != "info") and entry.depth == 0)
        or finding["rule"] in STATE_LOST
    )


FOLDED_FROM = 4
"""So many ends of lives of one member in a row are told as one."""


def alike(endings: list[Row]) -> Iterator[tuple[Row, int, Row]]:
    """Ends of lives: each with how often the same follows, and the last of these."""
    for _, run in groupby(endings, key=lambda ending: (ending["node"], ending["source_node"], ending["end_cause"])):
        same = list(run)
        if len(same) < FOLDED_FROM:
            yield from ((ending, 1, ending) for ending in same)
        else:
            yield same[0], len(same), same[-1]


AS_ANOTHER = "; its process starts again as another member, or in another group"
"""A death is told by a later start alone; where its own member is not back, another one is."""


def ending_in_words(incident: Incident, ending: Row, count: int, last: Row) -> str:
    """How a member's life ended, and when it was back; ``count`` lives in a row ended so, the ``last`` then."""
    who = incident.called(ending["node"], ending["source_node"])
    often = f" {times(count)}, to {clock(last['end_time'])}" if count > 1 else ""
    back, died = last["starts_again"], last["end_cause"] == "died"
    starts = (
        f"; it starts again at {clock(back)}" if back else AS_ANOTHER if died else "; no line says that it starts again"
    )
    how = ENDED[ended(ending["end_cause"], ending["protocol"])]
    at, by = ending["end_time"], ending["end_time"] + timedelta(milliseconds=ending["end_uncertainty_ms"] or 0)
    if count == 1 and died and by - at > BLURRED:
        return f"{who} {how} between {clock(at)} and {clock(min(by, back or by))}{starts}."
    return f"{who} {how}{often}{'' if ending['end_cause'] == 'silent' and not back else starts}."


def ended(state: str, protocol: str) -> str:
    """How a life ended as far as it is known: who says no farewell may have been stopped."""
    return "ended" if state == "died" and protocol in NO_FAREWELL else state


def change_in_words(incident: Incident, change: Row) -> str:
    """One change of leadership."""
    leader, word = leader_word(change["protocol"]), term_word(change["protocol"])
    who = incident.called(change["new_leader"], change["source_node"])
    again = change.get("old_leader") == change["new_leader"]
    first = "old_leader" not in change  # FIRST has no such column
    before = first or change["start_cause"] == SEEN or told_after_a_start(incident, change)
    already = change["start_cause"] in ALREADY and before
    if already:
        over = known_by_its_end(change)
        ends = f"; its lead ends here{SERVICE_ENDED.get(change['end_cause'], '')}" if over else ""
        who = f"{who} {'led' if over else 'leads'} ({word} {change['new_term']}); no line says since when{ends}"
    else:
        who = f"{who} becomes {leader}{' again' if again else ''} ({word} {change['new_term']}){campaign(change)}"
    if first:
        return f"{who}." if change["start_cause"] in ALREADY else f"{who}, the first one that is seen."
    old = "it" if again else incident.called(change["old_leader"])
    state = ended(change["old_leader_state"], change["protocol"])
    why = because(change, old, state, again=again)
    meanwhile = what_it_was(change, state, again=again)
    was = meanwhile.format(old="It" if again and (why or state in NOT_KNOWN) else old, later=led_on(change))
    if already:
        sentence = " ".join(part for part in (f"{who}.", why and f"Before that, {why}.", was) if part)
    elif not why and state not in NOT_KNOWN:
        sentence = f"{who}: {was[0].lower() + was[1:] if was.startswith('The ') else was}"
    else:
        sentence = " ".join(part for part in (f"{who}: {why}." if why else f"{who}.", was) if part)
    return sentence + silent(incident, change) + between(incident, change)


def given_up_in_words(incident: Incident, change: Row) -> str:
    """That the last leader that is known gave up, and why; nothing where its end is told otherwise."""
    cause = change.get("end_cause")
    if cause not in GIVES_UP or change.get("end_time") is None or known_by_its_end(change):
        return ""
    if any(row["leader"] for row in incident.course.now) or any(
        each["rule"] == RuleId.LEADERLESS and change["new_term"] in each["terms"] for each in incident.findings
    ):
        return ""
    who = incident.called(change["new_leader"], change["source_node"])
    return f"{who} leads no longer{SERVICE_ENDED[cause]}; no line says who led next."


def told_after_a_start(incident: Incident, change: Row) -> bool:
    """Whether somebody tells of a leader just after its own start: it may have led for long."""
    backs = (ending["starts_again"] for ending in incident.course.endings)
    return any(back and timedelta(0) <= change["changed_at"] - back < JUST_STARTED for back in backs)


def silent(incident: Incident, change: Row) -> str:
    """From when to when the log of the old leader has no line over a change, where nothing else is known of it; nothing
    of a clock that was wrong: it may have been set meanwhile."""
    hole = change.get("hole")
    if hole is None or hole["source_node"] in {wrong.source for wrong in incident.clocks.wrong}:
        return ""
    return f" Its log has no line from {clock(hole['since'])} to {clock(hole['until'])}."


def known_by_its_end(change: Row) -> bool:
    """Whether the first line of its own that shows a leader is the one with which its lead ends."""
    end = change.get("end_time")
    return change["start_cause"] == SEEN and end is not None and end - change["changed_at"] < AT_ONCE


def between(incident: Incident, change: Row) -> str:
    """For how long no line shows a leader before this one, where the old one says when it ended and no finding does."""
    end, state = change["old_leader_end"], change["old_leader_state"]
    if end is None or state not in SAYS_ITS_END or change["changed_at"] - end < MIN_REPORTED:
        return ""
    if any(each["rule"] == RuleId.LEADERLESS and change["new_term"] in each["terms"] for each in incident.findings):
        return ""
    length = duration((change["changed_at"] - end) // timedelta(microseconds=1))
    if state == "unknown":
        return f" The last sign of its lead is of {clock(end)}: no line shows a leader for {length}."
    return f" It had led until {clock(end)}: no line shows a leader for {length}."


def because(change: Row, old: str, state: str, *, again: bool) -> str:
    """Why an election began; nothing where what the old leader was says it."""
    cause = change["cause"] or ""
    if (again and cause in MISSED_FROM_ANOTHER) or (cause in MISSED and state not in NOT_KNOWN):
        return ""
    return BECAUSE.get(cause, "").format(old=old, word=term_word(change["protocol"]))


def what_it_was(change: Row, state: str, *, again: bool) -> str:
    """What had become of the old leader, as a sentence to be filled in; nothing where it handed over."""
    cause = change["cause"] or ""
    if cause in HANDED_OVER and state == "reachable":
        return ""
    if cause in TAKEN_FOR_DEAD and state == "reachable":
        return HEARD_AT_ONCE
    return AGAIN.get(state, MEANWHILE[state]) if again else MEANWHILE[state]


def led_on(change: Row) -> str:
    """When an old leader gave up that was there: before the next one began, with it, or later."""
    end = change["old_leader_end"]
    if end is None:
        return "; no line says that it gave up"
    after = end - change["changed_at"]
    if after > AT_ONCE:
        return f", and gave up {duration(after // timedelta(microseconds=1))} later"
    return ", and gave up at the same time" if after > timedelta(0) else ", and had given up"


def campaign(change: Row) -> str:
    """How long the new leader had asked for votes, where that was long."""
    asked = change["asked_first"]
    if asked is None or change["changed_at"] - asked < CAMPAIGN:
        return ""
    length = duration((change["changed_at"] - asked) // timedelta(microseconds=1))
    rounds = f" and {change['rounds']:,} rounds" if (change["rounds"] or 0) > 1 else ""
    return f", won after {length}{rounds}"


def notice_in_words(incident: Incident, notice: Notice) -> str:
    """What some lines say, and who says so."""
    return notice.sentence(dict.fromkeys(speaker(incident, *named) for named in notice.speakers))


def speaker(incident: Incident, node: str | None, source: str) -> str:
    """What to call whoever wrote a line, also where the line does not name its member."""
    if node is None:
        of_source = [member["node"] for member in incident.members if member["source_node"] == source]
        return incident.called(of_source[0], source) if len(of_source) == 1 else source
    return incident.called(node, source)


def beyond(incident: Incident) -> Iterator[str]:
    """Of a story in which nobody leads: what was looked for, what each member was, and how many notices are left."""
    left = len(incident.course.notices) - NOTICES_SHOWN
    if left > 0:
        yield f"And {left:,} more lines of this sort, to {clock(incident.course.notices[-1].until)}."
    course = incident.course
    entries = (course.seen_roles, course.notices, course.changes, course.services, course.endings, incident.findings)
    if not any(entries):
        yield f"No line of {clock(incident.begin)} to {clock(incident.end)} tells a role, an end or a fault."
    if incident.course.seen_roles:
        protocol = incident.course.seen_roles[0]["protocol"]
        yield (
            f"No line says who became {leader_word(protocol)}. Looked for, from {clock(incident.begin)} to "
            f"{clock(incident.end)}: who leads and why that changes, who starts or ends, and what breaks a rule of "
            f"{spoken(protocol)}."
        )
    for (node, source), of_member in groupby(
        incident.course.seen_roles, key=lambda row: (row["node"], row["source_node"])
    ):
        seen = "; ".join(sighting_in_words(row) for row in of_member)
        yield f"Seen of {incident.called(node, source)}: {seen}."


def sighting_in_words(row: Row) -> str:
    """What a member was, how often, and from when to when."""
    often = f" {times(row['spans'])}" if row["spans"] > 1 else ""
    until = f" to {clock(row['end_time'])}" if row["end_time"] else " to the end of its log"
    return f"{role_word(row['role'], row['protocol'])}{often} from {clock(row['start_time'])}{until}"


def damage(incident: Incident) -> Iterator[str]:
    """What was lost or comes again, in one sentence: the sums of the view ``losses``, which counts each cut once."""
    parts = list(losses_in_words([finding for finding in incident.findings if finding["damage"]]))
    repeated = [finding["messages_repeated"] for root in incident.roots for finding in repeating(incident, root)]
    if repeated:
        parts.append(f"{sum(repeated):,} {REPEATED}{in_places(repeated)}")
    if parts:
        yield f"Damage: {'; '.join(parts)}."


def losses_in_words(rows: list[Row]) -> Iterator[str]:
    """What was lost, summed by unit and by where it is missing."""
    for column, unit, loss in LOSSES:
        for missing in ("log", "queues"):
            of_kind = [row for row in rows if row[column] and (row["lost_from"] or "log") == missing]
            harmless = [row["nodes"][0] for row in of_kind if missing == "queues" and row["severity"] == "info"]
            if len(harmless) < len(of_kind):
                total = sum(row["damage"] for row in of_kind)
                unless = f" (those of {listed(dict.fromkeys(harmless))} do no harm unless it leads)" if harmless else ""
                yield f"{total:,} {unit} {ELSEWHERE.get(missing, loss)}{in_places(of_kind)}{unless}"
    for row in rows:
        if row["lost_from"] == "one_side":
            yield f"what {row['cut_node']} has from byte {row['cut_from']:,} to {row['cut_to']:,} exists there only"


def in_places(cuts: Sized) -> str:
    """How many cuts a sum is of, where there are several."""
    return f", in {len(cuts)} places" if len(cuts) > 1 else ""


def repeating(incident: Incident, finding: Row) -> Iterator[Row]:
    """The findings that tell of messages that come again, without those that follow from one that does already."""
    if finding["messages_repeated"]:
        yield finding
        return
    for echo in incident.echoes(finding):
        yield from repeating(incident, echo)


SERVICE_ENDED = {
    "died": ": it died",
    "stopped": ": it was stopped",
    "silent": ": its log just stops",
    "quorum_lost": ": it gave up for want of a quorum",
    "larger_term": ": it heard of a larger term",
}
"""Why a time of service ended, where that is known."""


GIVES_UP = frozenset({"quorum_lost", "larger_term"})
"""How a leader ends its role that goes on to run."""


def service_in_words(incident: Incident, role: Row) -> str:
    """One time of service of a master, or of a slave that acts for it."""
    serves = f"serves as {leader_word(role['protocol'])}"
    service = serves if role["role"] == "leader" else "acts as master, read only"
    who, end = incident.called(role["node"], role["source_node"]), role["end_time"]
    why = SERVICE_ENDED.get(role["end_cause"], "")
    if role["start_cause"] == SEEN:
        unknown = f"({term_word(role['protocol'])} not known)"
        led = f"led {unknown} until {clock(end)}{why}" if end else f"leads {unknown}"
        return f"{who} {led}; no line says since when."
    until = f", until {clock(end)}{why}" if end else ""
    return f"{who} {service}{until}."


OBSERVES, LOOKS, DOWN = ("observes", "observe"), ("looks for a leader", "look for a leader"), ("is down", "are down")
NOT_KNOWN_WHAT = ("has an unknown role", "have an unknown role")
WORDS = (OBSERVES, LOOKS, DOWN, NOT_KNOWN_WHAT)
"""What those are at the end of the logs who neither lead nor follow, for one and for several."""
BESIDES = {"observer": OBSERVES, "candidate": LOOKS, "down": DOWN}


def outcome(incident: Incident) -> Iterator[str]:
    """Who leads at the end of the logs, and what the others are; nobody whose log ends before the next one led."""
    called = incident.names
    newest = max((row["since"] for row in incident.course.now if row["since"]), default=None)
    for row in incident.course.now:
        if newest and row["since"] and row["as_of"] and row["as_of"] < newest:
            continue
        there = {row["leader"], *row["followers"]}  # of a member with two logs, one may end before
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
        who = f"{leader} {ROLE_WORDS[row['role']]}" if leader else nobody_leads(incident)
        as_of = f" ({clock(row['as_of'])})" if row["as_of"] else ""
        yield f"At the end of the logs{as_of} {', '.join([who, *parts])}."


def nobody_leads(incident: Incident) -> str:
    """What is known where no leader is: that there is none, if a finding says so, else that nothing is."""
    to_the_end = (
        finding["rule"] == RuleId.LEADERLESS and finding["end_time"] is None and finding["certainty"] != POSSIBLE
        for finding in incident.findings
    )
    return "nobody leads" if any(to_the_end) else "no line says who leads"


def unseen(incident: Incident) -> Iterator[str]:
    """What the logs do not show, so that nothing is concluded from it."""
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
