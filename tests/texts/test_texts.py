"""What the listed releases can print, from the committed facts: known, left out on purpose, and proven line by line."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from election_replay.election_core.fold.versions import KNOWN, ReleaseClaim
from election_replay.jobs.landing.inspection import inspect
from election_replay.jobs.landing.masking import masked
from texts.compare import Verdict, compare
from texts.facts import FACTS, SYSTEMS, read
from texts.ignored import IGNORED
from texts.releases import COMPONENTS
from texts.report import page

PAGE = Path(__file__).parents[2] / "docs" / "releases.md"
FEWEST = {"rocketmq": 850, "zookeeper": 240, "etcd": 270, "redis": 320, "kafka": 55}
"""So many statements are recognised at least: a comparison that knows nothing would find nothing unknown either."""


@cache
def verdicts(system: str) -> tuple[Verdict, ...]:
    return tuple(compare(read(system)))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_statement_is_known_or_left_out_on_purpose(
    system: str, record_property: Callable[[str, object], None]
) -> None:
    assert [(one.fact.file, one.fact.text) for one in verdicts(system) if one.unknown] == []
    record_property("log statements of releases", len(verdicts(system)))
    assert sum(one.kind is not None for one in verdicts(system)) >= FEWEST[system]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_recognised_statement_is_proven_by_a_line_through_inspect(system: str, tmp_path: Path) -> None:
    written: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in verdicts(system):
        if one.kind is not None and one.line is not None:
            written[one.line.stream].append((masked(one.line.text), one.kind))
    for stream, lines in written.items():
        file = tmp_path / stream
        file.write_text("".join(f"{text}\n" for text, _ in lines), encoding="utf-8")
        found = inspect(str(file))
        assert found.quarantined == []
        seen = [(one.text, one.event.kind) for one in found.events if one.event is not None]
        assert seen == lines


def test_every_pattern_leaves_something_out() -> None:
    used = {one.ignored for system in SYSTEMS for one in verdicts(system)}
    assert [one for one in IGNORED if one not in used] == []
    assert all(one.reason and (one.system or one.level) for one in IGNORED)


def test_the_page_is_what_the_facts_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page([one for system in SYSTEMS for one in verdicts(system)])


def test_the_facts_are_small() -> None:
    assert sum(file.stat().st_size for file in FACTS.iterdir()) < 1_000_000


@pytest.mark.parametrize("product", sorted({one.product for one in COMPONENTS} & set(KNOWN)))
def test_known_releases_are_those_of_the_facts(product: str) -> None:
    """A system is known with those that speak its dialect: Valkey is Redis here."""
    speak = {product, "Valkey"} if product == "Redis" else {product}
    releases = [release for one in COMPONENTS if one.product in speak for release in one.releases]
    minors = sorted({tuple(map(int, release.partition("-")[0].split(".")[:2])) for release in releases})
    assert KNOWN[product] == (minors[0], minors[-1])
    assert all(ReleaseClaim(product, release).known for release in releases)
