"""Sentences of findings, over all scenarios, keep to the style of ``docs/sentences.md``."""

import re
from pathlib import Path

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FINDING = re.compile(
    r"^  (?:info|warning|critical) (?:proven|definite|possible|undecidable) [A-Z_]+: (.+)$", re.MULTILINE
)
AVOIDED = re.compile(
    r"\bin vain\b|\b(?:led|leads|lead|is|are|was|waited|heard of it) no more\b|\bany ?more\b|\bthose who\b|\bwho write\b"
    r"|told apart|\b1 (?:rounds|entries|messages|votes)\b"
)
LONGEST = 60


def sentences() -> list[str]:
    """Every summary in the scenarios."""
    return [found for path in SCENARIOS.rglob("*.txt") for found in FINDING.findall(path.read_text("utf-8"))]


def test_there_are_sentences_to_hold() -> None:
    assert len(sentences()) > 400


def test_no_sentence_has_a_phrase_that_the_style_avoids() -> None:
    assert sorted({found for found in sentences() if AVOIDED.search(found)}) == []


def test_every_summary_ends_with_a_full_stop_and_has_no_double_space() -> None:
    assert sorted({found for found in sentences() if not found.endswith(".") or "  " in found}) == []


def test_a_reader_comes_to_a_full_stop_in_time() -> None:
    long = {part for found in sentences() for part in re.split(r"[.;:] ", found) if len(part.split()) > LONGEST}
    assert sorted(long) == []
