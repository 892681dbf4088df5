"""Generates ``docs/timing.md``, the page of all timeouts and tolerances of rules.

Run ``python -m election_replay.jobs.showing.timing_page``.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from election_replay.election_core.model.timing import OWN_CHOICE, Timeout
from election_replay.jobs.reading.words import spoken_ms

PAGE = Path(__file__).resolve().parents[2] / "docs" / "timing.md"

TIMING, CHOICE = "none: `timing` only", "a choice of this software"

HEAD = """# Times

Generated from `election_core/model/timing.py` by `python -m election_replay.jobs.showing.timing_page`; do not edit.

Every time that a rule counts with stands here once. The first table holds what a cluster can change: the logs say it
when they print the settings of the last column; else `timing` in `conf/pipeline.yaml` may say it by the name, in
milliseconds; else the default holds. Where members differ, or one was started again with another value, each rule takes
the side on which it claims less. `election-replay explain` shows what a group has, and where that comes from.

The second table holds what no cluster changes: time-outs of the code of a system, and how far apart lines may be that
tell of one event.
"""


def page() -> str:
    """Return the page."""
    changed = [
        (*of_time(timeout), timeout.value.source, " x ".join(f"`{name}`" for name in timeout.value.settings) or TIMING)
        for timeout in Timeout
        if timeout.settable
    ]
    kept = [
        (*of_time(timeout), CHOICE if timeout.value.source == OWN_CHOICE else timeout.value.source)
        for timeout in Timeout
        if not timeout.settable
    ]
    first = table(("Name", "Default", "Meaning", "Source", "Settings that logs print"), changed)
    return "\n".join([HEAD, *first, "", *table(("Name", "Value", "Meaning", "Source"), kept), ""])


def of_time(timeout: Timeout) -> tuple[str, str, str]:
    """Name, value and meaning of a time."""
    return f"`{timeout.name.lower()}`", spoken_ms(timeout.value.ms), timeout.value.meaning


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown."""
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
