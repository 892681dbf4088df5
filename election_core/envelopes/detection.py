"""Which envelopes a file's lines came in, told by the lines at its beginning.

Envelopes may lie in one another: Filebeat ships what Docker wrote of a line that a program coloured. A file's *chain*
names them from the outside in. The chain is right in which most lines turn out to be lines of a known system; where
none is known either way, the chain that most lines fit, unless it looks like ordinary text.
"""

from collections.abc import Callable, Iterable, Sequence

from election_replay.election_core.envelopes import export
from election_replay.election_core.envelopes.model import Broken, Envelope, Opened
from election_replay.election_core.envelopes.objects import OBJECTS
from election_replay.election_core.envelopes.prefixes import HTML, PREFIXES, as_html

ENVELOPES: tuple[Envelope, ...] = (*OBJECTS, *PREFIXES)
NAMED = {envelope.name: envelope for envelope in (*ENVELOPES, HTML)}

QUOTED = NAMED["quoted"]

Chain = tuple[str, ...]
"""Names of envelopes, from the outside in; none for a plain file."""

Known = Callable[[str], bool]
"""Whether a text is the first line of a record of a known system."""

SAMPLE = 60
"""So many lines are looked at."""

DEEPEST = 4
"""So many envelopes may lie in one another."""

BETWEEN = " > "
"""What stands between the names of a chain in a text."""


def chain_text(chain: Chain) -> str:
    """A chain for a person: ``filebeat > docker``."""
    return BETWEEN.join(chain)


def chain_in(text: str) -> Chain:
    """The chain that :func:`chain_text` wrote. Raises ``ValueError`` for an envelope that nobody knows."""
    chain = tuple(text.split(BETWEEN)) if text else ()
    if unknown := set(chain) - NAMED.keys() - {export.NAME}:
        raise ValueError(f"no such envelope: {', '.join(sorted(unknown))}")
    return chain


def opened(envelope: Envelope, line: str) -> Opened | None:
    """What ``envelope`` holds, or ``None`` for no such envelope, whole or broken."""
    try:
        return envelope.opens(line)
    except Broken:
        return None


def detected(lines: Iterable[str], known: Known) -> Chain:
    """The chain of a file that begins with ``lines``."""
    lines = [line.removeprefix("\ufeff") for line in lines if line.strip()]
    sample = lines[:SAMPLE]
    if is_export(sample):
        messages = [line.removeprefix("MESSAGE=") for line in sample if line.startswith("MESSAGE=")]
        return (export.NAME, *_best(messages, known, 1)[1])
    for envelope, whole in ((HTML, as_html(lines)), (QUOTED, 2 * len(inside_most(QUOTED, sample)) > len(sample))):
        if whole:
            return (envelope.name, *_best(inside(envelope, sample), known, 1)[1])
    return _best(sample, known, 0)[1]


def inside(envelope: Envelope, lines: Iterable[str]) -> list[str]:
    """The texts of those lines that are such envelopes."""
    return [found.text for line in lines if (found := opened(envelope, line)) is not None]


def inside_most(envelope: Envelope, lines: Sequence[str]) -> list[str]:
    """The same, where at least half of the lines are such envelopes; else none, as soon as that is known."""
    texts: list[str] = []
    for number, line in enumerate(lines, 1):
        if (found := opened(envelope, line)) is not None:
            texts.append(found.text)
        elif 2 * (number - len(texts)) > len(lines):
            return []
    return texts


def is_export(sample: Sequence[str]) -> bool:
    """Whether these lines are fields of journal entries."""
    return any(line.startswith(export.BEGIN) for line in sample[:2]) and any(
        line.startswith("__REALTIME_TIMESTAMP=") for line in sample
    )


def _best(sample: Sequence[str], known: Known, depth: int, *, in_loose: bool = False) -> tuple[int, Chain]:
    """How many lines are known when they are opened by the best chain, and that chain.

    No loose envelope lies in a loose one: words in front of words are text.
    """
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
