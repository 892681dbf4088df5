"""Text that somebody pasted: an issue thread, a chat, a page of a runbook, with the logs of several members in it, one
after the other.

A heading says whose lines follow: ``node1:``, ``### etcd-2``, ``==> zk1/zookeeper.log <==``, a command that prints logs
(``kubectl logs etcd-1``). Fences and marks of quotes in front of lines are taken off by the envelopes.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from election_replay.jobs.landing.reversed_files import stamp

_NAME = r"[A-Za-z0-9][\w.@/-]{0,80}"
_HEADINGS = tuple(
    re.compile(expression, re.IGNORECASE)
    for expression in (
        rf"==+> ?(?P<node>{_NAME}) ?<==+",
        rf"(?:[$#>] ?)?(?:sudo )?(?:kubectl|oc|docker|podman|nerdctl|crictl)\b.*? logs?(?: -\S+(?: \S+)?)*? "
        rf"(?P<node>{_NAME}).*",
        r"\[?\w+@(?P<node>[A-Za-z0-9][\w.-]{0,80})[: ].*[#$] .+",
        rf"(?:[$#>] ?)?ssh (?:\S+@)?(?P<node>{_NAME})\b.*",
        rf"(?:logs? (?:of|from|on) )(?:node |member |server |pod )?[`*_\"']*(?P<node>{_NAME}?)[`*_\"']*:?",
        rf"[#*_`=-]*\s*(?:(?:node|member|server|pod|host|broker|master)[ :=]+)?[`*_\"']*(?P<node>{_NAME}?)[`*_\"']*\s*"
        r"(?:\((?:leader|follower|master|slave|observer|learner)\))?\s*[`*_]*:[`*_]*",
        rf"#{{1,6}}\s+(?:(?:node|member|server|pod|host|broker)\s+)?[`*_]*(?P<node>{_NAME})[`*_]*",
    )
)
"""What says whose lines follow; the whole line."""

_QUOTED = re.compile(r"^(?:\s*[>|] ?)+")
_NO_NODE = frozenset(
    {"logs", "log", "output", "error", "errors", "result", "note", "edit", "update", "and", "here", "then", "thanks"}
)
"""Words before a colon that name nobody."""


def parted(text: str) -> list[tuple[str, list[str]]]:
    """The lines behind each heading, with its name; those before the first one have none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        node = heading(line)
        if node is not None:
            found.append((node, []))
        else:
            found[-1][1].append(line)
    return [(node, lines) for node, lines in found if any(stamp(line) for line in lines)]


def heading(line: str) -> str | None:
    """The node whose lines follow, if a line says that."""
    text = _QUOTED.sub("", line).strip()
    if not text or len(text) > 200 or stamp(text) is not None:
        return None
    for expression in _HEADINGS:
        found = expression.fullmatch(text)
        if found and found["node"].lower() not in _NO_NODE:
            return found["node"]
    return None


def write_pasted(text: str, into: Path) -> Path:
    """Write pasted text into a folder: a folder for each member that a heading names, or one file."""
    parts = parted(text)
    into.mkdir(parents=True, exist_ok=True)
    if sum(bool(node) for node, _ in parts) < 1 or len(parts) < 2:
        (into / "pasted.txt").write_text(text, encoding="utf-8", errors="surrogateescape")
        return into
    for node, lines in named(parts):
        target = into / node / "pasted.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{line}\n" for line in lines)
    return into


def named(parts: Sequence[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """The parts with names that folders may have."""
    for number, (node, lines) in enumerate(parts):
        safe = re.sub(r"[^\w.@-]+", "-", node).strip("-.") or f"part-{number + 1}"
        yield safe, lines
