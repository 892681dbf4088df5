"""``docs/timing.md``, every time that a rule counts with.

``python -m election_replay.jobs.showing.timing_page`` rewrites it.
"""

from collections.abc import Iterator
from pathlib import Path

from election_replay.election_core.model.timing import OWN_CHOICE, Timeout
from election_replay.jobs.reading.words import spoken_ms

PAGE = Path(__file__).resolve().parents[2] / "docs" / "timing.md"

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
    """The whole page."""
    settable = [timeout for timeout in Timeout if timeout.settable]
    fixed = [timeout for timeout in Timeout if not timeout.settable]
    return "\n".join([HEAD, *changed(settable), "", *kept(fixed), ""])


def changed(timeouts: list[Timeout]) -> Iterator[str]:
    """The times that clusters change."""
    yield "| Name | Default | Meaning | Source | Settings that logs print |"
    yield "| --- | --- | --- | --- | --- |"
    for timeout in timeouts:
        entry = timeout.value
        settings = " x ".join(f"`{name}`" for name in entry.settings) or "none: `timing` only"
        yield f"| `{timeout.name.lower()}` | {spoken_ms(entry.ms)} | {entry.meaning} | {entry.source} | {settings} |"


def kept(timeouts: list[Timeout]) -> Iterator[str]:
    """The times that no cluster changes."""
    yield "| Name | Value | Meaning | Source |"
    yield "| --- | --- | --- | --- |"
    for timeout in timeouts:
        entry = timeout.value
        source = "a choice of this software" if entry.source == OWN_CHOICE else entry.source
        yield f"| `{timeout.name.lower()}` | {spoken_ms(entry.ms)} | {entry.meaning} | {source} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
