"""What was done to a real cluster, and whether the cause that a finding tells agrees with it.

A run's ``truth.jsonl`` says what was done, and when: processes killed, stopped or held, machines cut off from each
other, commands of an operator. A finding tells a cause in words: a process ended, a log is silent, a leader was left by
its followers. What it tells is wrong where something was done at that time, and nothing of what would be told so.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from election_replay.election_core.model.rows import Finding

NEAR_S = 3.0
"""A deed is done so many seconds before its row is written, or the effect of one is still felt so long after it."""

ENDED, HELD, CUT, COMMANDED = "ended", "held", "cut off", "commanded"
"""Kinds of deeds: a process was killed or stopped, held and let go, cut off from others, or told something."""

DEEDS = {
    **dict.fromkeys(("kill -9", "kill", "kill all", "power cut", "stop", "term", "SIGTERM", "down"), ENDED),
    **dict.fromkeys(("pause", "SIGSTOP"), HELD),
    **dict.fromkeys(("cut", "isolate", "hole", "drop", "peers cannot answer it", "flap"), CUT),
    **dict.fromkeys(("admin", "config", "move-leader"), COMMANDED),
}
UNDONE = {
    "start": ENDED,
    **dict.fromkeys(("resume", "SIGCONT"), HELD),
    **dict.fromkeys(("heal", "healed", "joined", "unhole", "undrop", "flap over"), CUT),
}
"""What the records of the corpora call them, and what ends them."""

TOLD = (
    ("died", r"\) (died|was killed or stopped|was stopped|was removed)\b"),
    ("silent", r"\bfell silent|\bare silent"),
    ("handed over", r"\bhanded over"),
    ("members ended", r"\bhad ended"),
    (
        "contact lost",
        r"lost contact with it|lost its majority|gave up without a quorum|was lost there, though it ran on",
    ),
)
"""What a summary tells as the cause, by its words; the first that fits counts."""

MAKES_TRUE = {
    "died": {(ENDED, True)},
    "silent": {(HELD, True), (ENDED, True)},
    "handed over": {(COMMANDED, True), (COMMANDED, False)},
    "members ended": {(ENDED, False)},
    "contact lost": {(CUT, True), (HELD, True), (CUT, False), (HELD, False)},
}
"""The deeds that make true what is told, each with whether it was done to the member of which it is told.

A process that was killed and did not come back may be told as a log that just stops.
"""

AGREES, WRONG, NOTHING_DONE, NOT_TOLD = "as told", "not as told", "nothing was done", "no cause told"
"""What a table says of the cause that a finding tells."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something done to ``nodes`` from ``begin`` to ``end``, seconds since 1970; none are named for all of them."""

    kind: str
    nodes: frozenset[str]
    begin: float
    end: float

    def __str__(self) -> str:
        """As a table tells it."""
        return f"{', '.join(sorted(self.nodes)) or 'the cluster'} {self.kind}"


def deeds(run: Path) -> Iterator[Deed]:
    """What was done to the members of a run's cluster; not to its clients."""
    since: dict[tuple[str, frozenset[str]], float] = {}
    entries = map(json.loads, (run / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    rows = [entry for entry in entries if "client" not in entry and "action" in entry]
    everybody = frozenset[str]().union(*(_names([row.get("node")]) for row in rows))
    for entry in rows:
        action, at = entry["action"], float(entry["t"])
        kind, nodes = DEEDS.get(action), _done_to(entry)
        if kind == COMMANDED:
            yield Deed(kind, nodes, at, at)
        elif kind == ENDED:
            for node in sorted(nodes or everybody):
                since.setdefault((kind, frozenset([node])), at)
        elif kind is not None:
            since.setdefault((kind, nodes), at)
        for deed in [key for key in since if key[0] == UNDONE.get(action) and (not nodes or key[1] == nodes)]:
            yield Deed(*deed, since.pop(deed), at)
    for (kind, nodes), begin in since.items():
        yield Deed(kind, nodes, begin, inf)


def _done_to(entry: Mapping[str, Any]) -> frozenset[str]:
    """The members to which something was done; of two sides that are cut off from each other the smaller one."""
    if "node" in entry:
        return _names([entry["node"]])
    if "nodes" in entry:
        return _names(entry["nodes"])
    for names in (("a", "b"), ("sender", "receivers"), ("src", "dst")):
        if names[0] in entry:
            return min((_names(entry[name]) for name in names), key=len)
    return min(map(_names, entry["between"]), key=len) if "between" in entry else frozenset()


def _names(one_or_more: str | Iterable[str | None]) -> frozenset[str]:
    """The members that a record names; some name nobody, where nobody led, or all."""
    names = [one_or_more] if isinstance(one_or_more, str) else one_or_more
    return frozenset(name for name in names if name not in (None, "*"))


def told(finding: Finding) -> str | None:
    """What a finding says of the cause, if it does."""
    return next((cause for cause, words in TOLD if re.search(words, finding.summary)), None)


def during(done: Iterable[Deed], begin: float, end: float) -> list[Deed]:
    """The deeds whose effect was there between two times."""
    return sorted(
        (deed for deed in done if deed.begin - NEAR_S <= end and begin <= deed.end + NEAR_S),
        key=lambda deed: (deed.begin, str(deed)),
    )


def judged_by(finding: Finding, done: Iterable[Deed], sources: Mapping[tuple[str, str], frozenset[str]]) -> str:
    """Whether the cause that a finding tells is one of what was ``done`` meanwhile.

    ``sources`` are the folders of each member, by its group. Where nothing was done, it went wrong by itself: machines
    that were short of CPU.
    """
    done, cause = list(done), told(finding)
    if cause is None:
        return NOT_TOLD
    if not done:
        return NOTHING_DONE
    member = (finding.replica_group, finding.nodes[0]) if finding.nodes else ("", "")
    named = sources.get(member, frozenset())
    true = any((deed.kind, bool(deed.nodes & named)) in MAKES_TRUE[cause] for deed in done)
    return AGREES if true else WRONG
