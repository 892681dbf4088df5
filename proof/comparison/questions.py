"""The questions on which all ways to judge a run are compared, and the answers that its run.json gives.

An answer is *yes* (must be found), *no* (a claim is a false alarm) or open: the run's description does not decide it,
and a claim counts neither way.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class Question(StrEnum):
    """What a reviewer asks of a run."""

    TWO_LEADERS = "two leaders at once"
    SAME_TERM = "two leaders of one term"
    DOUBLE_VOTE = "a vote given twice"
    LEADERLESS = "a time without a leader"
    WRITES_LOST = "acknowledged writes lost"
    DOUBLE_LOCK = "a lock held twice"
    ROLLBACK = "metadata went back"


LEAST_S = 4.0
"""Seconds from which on a time without a leader, or with two, is claimed; times of some logs are whole seconds."""
SURELY_S, HARDLY_S = 6.0, 1.0
"""Longer times must be claimed, shorter ones must not; between them a claim counts neither way."""

OVERLAP = re.compile(
    r"By their logs .* are leader at once for about ([\d.]+) s|^Two masters .*at once: .* \((\d+) s\)", re.MULTILINE
)
GAP = re.compile(r"No leader between .*\(about (\d+) s\)")
LEADS = re.compile(r"(?:Controller )?\S+ leads \w+ \d+ from ([\d:]+)Z until ([\d:]+)Z")
SAME = re.compile(r"TWO LEADERS IN ONE TERM|^Two nodes led one term", re.MULTILINE)
VOTED = re.compile(r"DOUBLE VOTE")
ALL_THERE = re.compile(
    r"all of them are there at the end|Nothing is lost|No acknowledged message is lost|acknowledged messages are there"
    r"|\b(\d+) messages acknowledged, \1 found"
)
GONE = re.compile(r"acknowledged (?:writes|messages) .*are gone at the end")

RULES = {
    "COMMITTED_ENTRY_LOST": Question.WRITES_LOST,
    "LEADERLESS": Question.LEADERLESS,
    "SPLIT_BRAIN_SAME_TERM": Question.SAME_TERM,
    "UNCLEAN_ELECTION": Question.WRITES_LOST,
}
"""What the findings that run.json gives as data come to."""

Answers = dict[Question, bool | None]


def answers(run: Path) -> Answers:
    """What ``run.json`` of a run, and what was read from its prose (truth.toml), answer to each question."""
    described = json.loads((run / "run.json").read_text())
    found: Answers = dict.fromkeys(Question, False)
    found |= {Question.LEADERLESS: None, Question.WRITES_LOST: None}
    if isinstance(described["expected"], dict):
        found |= {Question.TWO_LEADERS: None} | _from_data(described["expected"])
    else:
        found |= _from_sentences(described["expected"]) | _from_facts(described.get("facts") or {})
    return found | dict(_from_prose(f"{run.parent.name}/{run.name}"))


def _from_data(expected: Mapping[str, Any]) -> Answers:
    claimed: Answers = {RULES[rule]: True for rule, *_ in expected["above_info"] if rule in RULES}
    return {Question.WRITES_LOST: False} | claimed


def _from_sentences(sentences: Iterable[str]) -> Answers:
    text = "\n".join(sentences)
    found: Answers = {
        Question.TWO_LEADERS: _length_says(
            [float(found.group(found.lastindex or 1)) for found in OVERLAP.finditer(text)]
        ),
        Question.SAME_TERM: bool(SAME.search(text)),
        Question.DOUBLE_VOTE: bool(VOTED.search(text)),
    }
    if ALL_THERE.search(text):
        found[Question.WRITES_LOST] = False
    if GONE.search(text):
        found[Question.WRITES_LOST] = True
    gaps = [float(seconds) for seconds in GAP.findall(text)]
    leads = [LEADS.findall(line) for line in text.splitlines() if not line.startswith("Controller")]
    gaps += list(_between([spans[0] for spans in leads if spans]))
    if gaps:
        found[Question.LEADERLESS] = _length_says(gaps) or None
    return found


def _from_facts(facts: Mapping[str, Any]) -> Answers:
    found: Answers = {}
    writes = facts.get("writes", {})
    if "lost" in writes or "acked_but_gone" in writes:
        found[Question.WRITES_LOST] = bool(writes.get("lost") or writes.get("acked_but_gone"))
    controllers = [
        (leader["from"].rstrip("Z"), leader["until"].rstrip("Z")) for leader in facts.get("controller_leaders", [])
    ]
    if any(seconds >= SURELY_S for seconds in _between(controllers)):
        found[Question.LEADERLESS] = True
    return found


def _from_prose(run: str) -> Iterator[tuple[Question, bool | None]]:
    truth = tomllib.loads((HERE / "truth.toml").read_text())
    if run in truth["nothing"]["runs"]:
        yield from dict.fromkeys(Question, False).items()
    for part, answer in (("yes", True), ("no", False), ("open", None)):
        for question, runs in truth[part].items():
            if run in runs:
                yield Question[question], answer


def _length_says(seconds: Iterable[float]) -> bool | None:
    """Whether the longest of some times is surely, hardly or perhaps long enough for a claim."""
    longest = max(seconds, default=0.0)
    return True if longest >= SURELY_S else False if longest < HARDLY_S else None


def _between(spans: Iterable[tuple[str, str]]) -> Iterator[float]:
    """Seconds between the end of a span of ``hh:mm:ss`` and the begin of the next."""
    for (_, end), (begin, _) in pairwise(spans):
        yield (_clock(begin) - _clock(end)).total_seconds()


def _clock(text: str) -> datetime:
    return datetime.fromisoformat(f"1970-01-01T{text}")
