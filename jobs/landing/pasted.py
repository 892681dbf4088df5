"""Split pasted text, such as an issue thread, a chat or a runbook page, into the logs of the members in it.

A heading names the node of the lines below it: ``node1:``, ``### etcd-2``, ``==> zk1/zookeeper.log <==``, or a command
that prints logs (``kubectl logs etcd-1``). Code fences and quote marks before lines are left to the envelopes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from election_replay.jobs.landing.written_times import stamp

_PROMPT = r"(?:\[?\w+@[\w.-]{1,80}[: ][^#$\n]{0,80}[#$] |[$#>] ?)?"
_NAME = r"[A-Za-z0-9][\w.@/-]{0,80}"
_HEADINGS = tuple(
    re.compile(expression, re.IGNORECASE)
    for expression in (
        rf"==+> ?(?P<node>/?{_NAME}) ?<==+",
        rf"==== START logs for container \S+ of pod \S+/(?P<node>{_NAME}) ====",
        rf"([=*#~_-])\1+\s*(?:(?:node|member|server|pod|host|broker)[ :=]+)?(?P<node>/?{_NAME}):?\s*\1\1+",
        rf"{_PROMPT}(?:sudo )?(?:kubectl|oc|docker|podman|nerdctl|crictl)\b.*? logs?(?: -\S+(?: \S+)?)*? "
        rf"(?P<node>{_NAME}).*",
        rf"{_PROMPT}ssh (?:\S+@)?(?P<node>{_NAME})\b.*",
        r"\[?\w+@(?P<node>[A-Za-z0-9][\w.-]{0,80})[: ].*[#$] .+",
        r"(?:zk|zookeeper|etcd|redis|kafka|node|member|server|pod|host|broker|container) ?[:=] ?"
        r"(?P<node>[A-Za-z][\w.@/-]{0,80}\d)",
        rf"[#*_`]*\s*(?:\w+ ){{0,4}}logs? (?:of|from|on) (?:node |member |server |pod )?"
        rf"[`*_\"']*(?P<node>{_NAME}?)[`*_\"']*:?",
        rf"(?:from|on|at) (?:node |member |server |pod |host )?[`*_\"']*(?P<node>{_NAME}?)[`*_\"']*:",
        rf"(?:\w+,? ){{0,4}}(?:this|that|here|these) (?:is|are|comes?) (?:node |member |server |pod )?"
        rf"[`*_]*(?P<node>{_NAME}?)[`*_]*:",
        rf"[#*_`=-]*\s*(?:(?:node|member|server|pod|host|broker|master)[ :=]+)?[`*_\"']*(?P<node>{_NAME}?)[`*_\"']*\s*"
        r"(?:\([^()\n]{1,80}\))?\s*[`*_]*:[`*_]*",
        rf"#{{1,6}}\s+(?:(?:node|member|server|pod|host|broker)\s+)?[`*_]*(?P<node>{_NAME})[`*_]*",
    )
)
"""The patterns of headings, each for a whole line; the group ``node`` is the node whose lines follow."""

_OF_TAIL = re.compile(rf"==> {_NAME} <==|==> /{_NAME} <==")
"""What ``tail -f`` prints before lines of another file than the last ones."""

DUMPED = "==== START logs for container "
"""What ``kubectl cluster-info dump`` prints before the log of a container, among lists of objects in JSON."""
_DUMPED_END = DUMPED.replace("START", "END")
_QUOTED = re.compile(r"^(?:\s*[>|] ?)+")
_SUMMARY = re.compile(r"(?i)<summary>(.{1,120}?)(?:</summary>|\Z)")
_TAG = re.compile(r"<[^<>]{1,80}>")
_NO_NODE = frozenset(
    {
        *("logs", "log", "output", "error", "errors", "result", "note", "edit", "update", "and", "here", "then"),
        *("thanks", "of", "from", "on", "the", "full", "relevant", "details", "etcd", "zookeeper", "redis", "kafka"),
        *("node", "member", "server", "pod", "host", "broker", "container", "leader", "follower", "master", "slave"),
    }
)
"""Words before a colon, or in the title of a folded part of an issue, that name no node."""


FEWEST_LINES = 3
"""A fence of code with fewer lines that have a time is a quotation."""

_LOG_FILE = re.compile(r"\.(?:log|out|txt)(?:\.\d+)?\Z")


def parted(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return (node, lines) for each heading with at least one dated line below it.

    The node of the lines before the first heading is the empty string.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        node = "" if line.startswith(_DUMPED_END) else heading(line)
        if node is not None:
            found.append((node, []))
        else:
            found[-1][1].append(line)
    return [(node, lines) for node, lines in found if any(stamp(line) for line in lines)]


def heading(line: str) -> str | None:
    """Return the node that a heading names; None for any other line, and for every line with a time."""
    text = _QUOTED.sub("", line).strip()
    if summary := _SUMMARY.search(text):
        text = " ".join(word for word in _TAG.sub(" ", summary[1]).split() if word.lower().strip(":") not in _NO_NODE)
        text = f"{text.rstrip(':')}:"
    if not text or len(text) > 200 or stamp(text) is not None:
        return None
    for expression in _HEADINGS:
        found = expression.fullmatch(text)
        if found and found["node"].lower() not in _NO_NODE:
            return found["node"]
    return None


def members_of(lines: Sequence[str], name: str) -> list[tuple[str, list[str]]]:
    """Return (path, lines) of each member whose log stands below a heading in the file ``name``.

    Where headings name fewer than two nodes, fences of code may tell the logs. Returns an empty list when time goes
    back at fewer than half of the headings: those are then lines of one log that look like headings, unless ``kubectl
    cluster-info dump`` wrote them or ``tail`` of several files, or a fence of code stands below each.
    """
    dump = any(line.startswith(DUMPED) for line in lines)
    parts = [(node, below) for node, below in parted(lines) if node or not dump]
    if len({node for node, _ in parts if node}) < 2:
        return of_fences(lines, name)
    times = [[time for line in below if (time := stamp(line))] for _, below in parts]
    back = sum(after[0] < before[-1] for before, after in pairwise(times))
    of_tail = all(node.startswith("/") or "/" in node or _LOG_FILE.search(node) for node, _ in parts if node)
    fenced = all(_is_fenced(below) for node, below in parts if node)
    if 2 * back < len(parts) - 1 and not dump and not fenced and not (of_tail and any(map(_OF_TAIL.fullmatch, lines))):
        return []
    found: dict[str, list[str]] = {}
    for node, below in parts:
        path = "/".join(filter(None, (re.sub(r"[^\w.@-]+", "-", part).strip("-.") for part in node.split("/"))))
        found.setdefault(path if _LOG_FILE.search(path) else f"{path or 'above'}/{name}", []).extend(below)
    return [*found.items()]


def of_fences(lines: Sequence[str], name: str) -> list[tuple[str, list[str]]]:
    """Return (path, lines) of each fence of code, where time goes back from each to the next: each is a log by itself
    then, of a member that nobody names; an empty list for any other text."""
    fences: list[list[str]] = []
    inside = False
    for line in lines:
        if line.strip().startswith(("```", "~~~")):
            inside = not inside
            fences += [[]] if inside else []
        elif inside:
            fences[-1].append(line)
    dated = [(fence, times) for fence in fences if len(times := [*filter(None, map(stamp, fence))]) >= FEWEST_LINES]
    if len(dated) < 2 or not all(after[0] < before[-1] for (_, before), (_, after) in pairwise(dated)):
        return []
    return [(f"{Path(name).stem}-part-{number}/{name}", fence) for number, (fence, _) in enumerate(dated, 1)]


def _is_fenced(lines: Sequence[str]) -> bool:
    """Return True when the first of these lines that is not blank begins a fence of code."""
    return next((line for line in map(str.strip, lines) if line), "").startswith(("```", "~~~"))


def write_pasted(text: str, into: Path) -> Path:
    """Write pasted text below the folder ``into`` and return that folder.

    Each member that a heading names gets a folder of its own; text without such a heading becomes one file.
    """
    parts = parted(text.splitlines())
    into.mkdir(parents=True, exist_ok=True)
    if not any(node for node, _ in parts):
        (into / "pasted.txt").write_text(text, encoding="utf-8", errors="surrogateescape")
        return into
    for node, lines in named(parts):
        target = into / node / "pasted.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{line}\n" for line in lines)
    return into


def named(parts: Sequence[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts with names that are safe for folders: ``part-1``, ``part-2``, ... where no name is left."""
    for number, (node, lines) in enumerate(parts):
        safe = re.sub(r"[^\w.@-]+", "-", node).strip("-.") or f"part-{number + 1}"
        yield safe, lines
