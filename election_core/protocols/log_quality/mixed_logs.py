"""Logs of several members in one folder: interleaved, they look like one member that breaks ordering rules.

While a source contradicts itself about its identity (``IDENTITY_CONTRADICTION``), it cannot judge rules about one
node's own order: they become *undecidable*. Members that name themselves in each line are read separately
(:mod:`election_core.fold.members`), and so are those whose logs were joined one behind the other. Each wrote by a clock
of its own, so the judge sees each as a source of its own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.fold.checks import UNDECIDABLE, VIOLATES
from election_replay.election_core.model.facts import Fact, RuleBroken, RuleChecked, TermWentBack
from election_replay.election_core.model.rows import LockHold, MetadataVersion, RoleInterval, Row
from election_replay.election_core.protocols.log_quality.facts import Claim
from election_replay.election_core.protocols.log_quality.log import JOINED

WHY = "logs of several members in one folder, or a machine that was given to another member"


def split_members(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts with each of several members in one source as a source of its own."""
    return [replace(fact, source_node=_own_source(fact)) if fact.speaker else fact for fact in facts]


def join_members(rows: Iterable[Row], facts: Iterable[Fact]) -> Iterator[Row]:
    """Yield the rows with the folders as sources again, after :func:`split_members`."""
    folders = {fact.source_node: _folder(fact) for fact in facts if fact.speaker}
    for row in rows:
        if isinstance(row, RoleInterval | LockHold | MetadataVersion) and row.source_node in folders:
            yield replace(row, source_node=folders[row.source_node])
        else:
            yield row


def _own_source(fact: Fact) -> str:
    return f"{fact.source_node}/{fact.speaker}"


def _folder(fact: Fact) -> str:
    return fact.source_node.removesuffix(f"/{fact.speaker}") if fact.speaker else fact.source_node


def drop_unattributable(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that rules may use: for a source of unclear identity, none about the order of its lines."""
    every = list(facts)
    names: dict[tuple[str, str, str], set[str]] = {}
    for fact in every:
        if isinstance(fact, Claim) and fact.name_kind != JOINED:
            names.setdefault((fact.source_node, fact.process, fact.name_kind), set()).add(fact.name)
    mixed = {source for (source, _, _), claimed in names.items() if len(claimed) > 1}
    if not mixed:
        return every
    return [
        _not_told(fact) if _folder(fact) in mixed else fact
        for fact in every
        if _folder(fact) not in mixed or not isinstance(fact, TermWentBack | RuleBroken)
    ]


def _not_told(fact: Fact) -> Fact:
    if isinstance(fact, RuleChecked) and fact.verdict == VIOLATES:
        return replace(fact, verdict=UNDECIDABLE, why=WHY)
    return fact
