"""Verdicts of checks on one log: a rule holds, is broken, or cannot be judged; with counts."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import RuleBroken, RuleChecked
from election_replay.election_core.model.fold_event import FoldEvent

CONFORMS = "conforms"
VIOLATES = "violates"
UNDECIDABLE = "undecidable"


class Verdict(NamedTuple):
    """The result of a check; ``why``: the reason of an undecidable one, or a clause that says how a rule is broken."""

    rule: str
    says: str
    why: str | None = None


def either(rule: str, holds: bool) -> Verdict:
    """Return CONFORMS or VIOLATES."""
    return Verdict(rule, CONFORMS if holds else VIOLATES)


def violates(rule: str, how: str) -> Verdict:
    """Return VIOLATES; ``how`` is a clause about the member that wrote the line."""
    return Verdict(rule, VIOLATES, how)


def undecidable(rule: str, why: str) -> Verdict:
    """Return UNDECIDABLE for the reason ``why``."""
    return Verdict(rule, UNDECIDABLE, why)


@dataclass(slots=True)
class Checked:
    """The counted verdicts about one log's lines."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    violations: list[tuple[Verdict, FoldEvent]] = field(default_factory=list)

    def note(self, verdict: Verdict | None, event: FoldEvent) -> None:
        """Count a verdict; ``None`` where the check did not apply."""
        if verdict is not None:
            if verdict.says == VIOLATES:
                self.violations.append((verdict, event))
                verdict = Verdict(verdict.rule, VIOLATES)
            self.counts[verdict] += 1

    def broken(self, emit: FactWriter, how: Callable[[str, FoldEvent], str] | None = None) -> Iterator[RuleBroken]:
        """Yield the lines that break a rule. ``how`` makes the clause from rule and line where a verdict has none."""
        for verdict, event in self.violations:
            yield RuleBroken(
                *emit.at(event),
                term=event.term,
                rule=verdict.rule,
                line=event.kind,
                why=verdict.why or (how(verdict.rule, event) if how else ""),
                peer=event.peer,
                start_offset=event.start_offset,
            )

    def tallied(self, emit: FactWriter, node: str | None) -> Iterator[RuleChecked]:
        """Yield the count of each verdict, dated to the begin of the last run, since its end moves."""
        begun = emit.incarnations[-1].first_seen if emit.incarnations else 0
        for verdict, count in sorted(self.counts.items(), key=_in_words):
            yield RuleChecked(
                *emit.during(node, begun, begun, None),
                verdict=verdict.says,
                rule=verdict.rule,
                count=count,
                why=verdict.why,
            )


def _in_words(tally: tuple[Verdict, int]) -> tuple[str, str, str]:
    verdict = tally[0]
    return verdict.rule, verdict.says, str(verdict.why)
