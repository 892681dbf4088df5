"""Detection of a file's envelopes from its first lines.

Envelopes may be nested: Filebeat ships what Docker wrote of a line that a program coloured. A file's *chain* names them
from the outside in. The chain is the one that yields most lines of a known system; if no line is known either way, the
first chain that at least half of the lines fit, unless it looks like ordinary text.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from election_replay.election_core.envelopes import export
from election_replay.election_core.envelopes.model import Broken, Envelope, Opened
from election_replay.election_core.envelopes.objects import OBJECTS
from election_replay.election_core.envelopes.prefixes import HTML, PREFIXES, as_html

ENVELOPES: tuple[Envelope, ...] = (*OBJECTS, *PREFIXES)
NAMED = {envelope.name: envelope for envelope in (*ENVELOPES, HTML)}

QUOTED = NAMED["quoted"]

Chain = tuple[str, ...]
"""Names of envelopes, from the outside in; empty for a plain file."""

Known = Callable[[str], bool]
"""Returns True for the first line of a record of a known system."""

SAMPLE = 60
"""The number of lines that are looked at."""

DEEPEST = 4
"""The most envelopes that may be nested."""

BETWEEN = " > "
"""The separator of names in a chain's text."""


def chain_text(chain: Chain) -> str:
    """Return a chain as text: ``filebeat > docker``."""
    return BETWEEN.join(chain)


def chain_in(text: str) -> Chain:
    """Parse the text of :func:`chain_text`. Raises ``ValueError`` for an unknown envelope."""
    chain = tuple(text.split(BETWEEN)) if text else ()
    if unknown := set(chain) - NAMED.keys() - {export.NAME}:
        raise ValueError(f"no such envelope: {', '.join(sorted(unknown))}")
    return chain


def opened(envelope: Envelope, line: str) -> Opened | None:
    """Return the content of ``envelope``, or None if the line is no such envelope or a broken one."""
    try:
        return envelope.opens(line)
    except Broken:
        return None


def detected(lines: Iterable[str], known: Known) -> Chain:
    """Return the chain of a file that begins with ``lines``."""
    lines = [line.removeprefix("\ufeff") for line in lines if line.strip()]
    sample = lines[:SAMPLE]
    if is_export(sample):
        messages = [line.removeprefix("MESSAGE=") for line in sample if line.startswith("MESSAGE=")]
        return (export.NAME, *_best(messages, known, 1)[1])
    for envelope, whole in ((HTML, as_html(lines)), (QUOTED, 2 * len(inside_most(QUOTED, sample)) > len(sample))):
        if whole:
            return (envelope.name, *_best(inside(envelope, sample), known, 1)[1])
    if chain := _best(sample, known, 0)[1]:
        return chain
    dated = [line for line in sample if _CLOCK.search(line)]  # most lines of a pasted text may be those of its writer
    found = _best(dated, known, 0) if len(dated) < len(sample) and not any(map(known, sample)) else (0, ())
    return found[1] if found[0] else ()


_CLOCK = re.compile(r"\d\d:\d\d:\d\d", re.ASCII)


def inside(envelope: Envelope, lines: Iterable[str]) -> list[str]:
    """Return the texts of those lines that are such envelopes."""
    return [found.text for line in lines if (found := opened(envelope, line)) is not None]


def inside_most(envelope: Envelope, lines: Sequence[str]) -> list[str]:
    """Return those texts if at least half of the lines are such envelopes, else an empty list; stops early."""
    texts: list[str] = []
    for number, line in enumerate(lines, 1):
        if (found := opened(envelope, line)) is not None:
            texts.append(found.text)
        elif 2 * (number - len(texts)) > len(lines):
            return []
    return texts


def is_export(sample: Sequence[str]) -> bool:
    """Return True when these lines are fields of journal entries."""
    return any(line.startswith(export.BEGIN) for line in sample[:2]) and any(
        line.startswith("__REALTIME_TIMESTAMP=") for line in sample
    )


def _best(sample: Sequence[str], known: Known, depth: int, *, in_loose: bool = False) -> tuple[int, Chain]:
    """Return the best chain and how many lines are known when it is opened. A loose envelope is never nested in a loose
    one: words before words are text."""
    best = sum(map(known, sample))
    chain: Chain = ()
    if depth == DEEPEST or 2 * best > len(sample) or not sample:
        return best, chain
    for envelope in ENVELOPES:
        if in_loose and envelope.loose:
            continue
        if not (texts := inside_most(envelope, sample)):
            continue
        count, inner = _best(texts, known, depth + 1, in_loose=in_loose or envelope.loose)
        if count > best or (count == best == 0 and not chain and not envelope.loose):
            best, chain = count, (envelope.name, *inner)
    return best, chain
