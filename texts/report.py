"""``docs/releases.md``: what every release can print, and what of it is known."""

from collections import Counter
from collections.abc import Iterable, Sequence

from texts.compare import Verdict
from texts.ignored import IGNORED
from texts.releases import COMPONENTS

_LONGEST = 100
"""So many characters of a pattern are shown; ``texts/ignored.py`` has the rest."""

_HEAD = """# Releases: what each can print, and what of it is known

`make texts` writes this page. It fetches the source archives of the releases below, extracts every log statement of the
packages that elect, replicate, lock, register and hand over metadata, or start and stop a process, and holds each
against the dialects' tables:

- **recognised**: a line made of the statement's own message, with a plausible value in each of its places and in the
  layout of its system, becomes an event of a kind that [the dialects](dialects.md) know;
- **of no interest**: left out on purpose by a pattern that says why (below);
- **unknown**: neither. `make texts` and the tests fail on one.

What was extracted stands as facts in `texts/facts/` (message, level, class, releases; no source code): the tests
compare from there, without network. `UNKNOWN_VERSION` knows the releases of this page, by major and minor number. A
statement counts once a class; one whose message is chosen among several counts for each.
"""


def page(verdicts: Sequence[Verdict]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for product in dict.fromkeys(one.product for one in COMPONENTS):
        names = {one.name for one in COMPONENTS if one.product == product}
        own = [one for one in verdicts if one.fact.component.name in names]
        parts.append(f"\n## {product}\n\n{_table(own)}{_missing(names)}")
    parts.append(f"\n## Unknown\n\n{_unknown(verdicts)}")
    parts.append(f"\n## Of no interest, and why\n\n{_ignored(verdicts)}")
    return "".join(parts)


def _table(verdicts: Sequence[Verdict]) -> str:
    counted: Counter[tuple[str, str]] = Counter()
    for one in verdicts:
        what = "unknown" if one.unknown else "recognised" if one.kind is not None else "ignored"
        counted.update((release, what) for release in one.fact.releases)
    releases = sorted({release for release, _ in counted}, key=_order)
    rows = ["| release | statements | recognised | of no interest | unknown |", "|---|---|---|---|---|"]
    for release in releases:
        known, ignored, unknown = (counted[release, what] for what in ("recognised", "ignored", "unknown"))
        rows.append(f"| {release} | {known + ignored + unknown} | {known} | {ignored} | {unknown} |")
    return "\n".join(rows) + "\n"


def _order(release: str) -> tuple[tuple[int, ...], str]:
    number, _, suffix = release.partition("-")
    return tuple(int(one) for one in number.split(".")), suffix


def _missing(names: Iterable[str]) -> str:
    lines = [f"- `{one.name}` {', '.join(one.missing)}" for one in COMPONENTS if one.name in set(names) and one.missing]
    return "\nThe registry has no sources of:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _unknown(verdicts: Sequence[Verdict]) -> str:
    lines = [
        f"- {one.fact.component.product} {one.fact.releases[0]} to {one.fact.releases[-1]}, `{one.fact.file}`,"
        f" {one.fact.level}: `{one.fact.text}`"
        for one in verdicts
        if one.unknown
    ]
    return "\n".join(lines or ["None."]) + "\n"


def _ignored(verdicts: Sequence[Verdict]) -> str:
    covered = Counter(id(one.ignored) for one in verdicts if one.ignored is not None)
    rows = ["| system | files | messages | statements | reason |", "|---|---|---|---|---|"]
    for one in IGNORED:
        messages = one.text or (f"level {one.level}" if one.level else "")
        cells = (one.system or "all", _code(one.file), _code(messages), str(covered[id(one)]), one.reason)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _code(pattern: str) -> str:
    shown = pattern if len(pattern) <= _LONGEST else f"{pattern[:_LONGEST]} ..."
    return f"`{shown}`".replace("|", "\\|") if shown else "all"
