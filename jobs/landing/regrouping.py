"""Separate the clusters in one folder and the members in one file, by a first look at the lines.

Two clusters in one folder may have members with the same ids, and one file may hold the logs of several members, one
after the other. Clusters are separated when names with the same member id differ by the same words everywhere:
``prod-zk1``, ``prod-zk2`` and ``stage-zk1``, ``stage-zk2``. Members in one file are separated where time goes back
between the lines of one and the lines of another, and so are several logs of one process.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations, pairwise, takewhile
from pathlib import Path, PurePosixPath

from election_replay.election_core.model.streams import unpacked
from election_replay.jobs.landing.as_written import LARGEST
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.inferred_layout import Assumed, InferredLayout, stem
from election_replay.jobs.landing.joined_logs import logs_in
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.written_times import seconds, stamp_of

Source = tuple[str, str]
"""(cluster, node)."""

SEPARATE = "it holds the logs of {} members, one behind the other: each is read apart"
LOGS_OF_ONE = "it holds {} logs of one process, one behind the other: each is read as a log by itself"
_SEPARATORS = "-_.@+ "
_FIRST_WORD = re.compile(rf"[^{_SEPARATORS}]+(?=[{_SEPARATORS}])")


def clusters_in(namesakes: Sequence[Sequence[str]], names: Sequence[str]) -> dict[str, str]:
    """Return name -> cluster, a word of the name, for all ``names``; empty when the names do not tell the clusters.

    Each group of ``namesakes`` holds the names with one member id; all groups must differ by the same set of words.
    """
    if len(namesakes) < 2:
        return {}
    for turned in (str, _backwards):
        words = {frozenset(_differences([turned(name) for name in same])) for same in namesakes}
        found = {name: _word_of(turned(name), next(iter(words))) for name in names}
        if len(words) == 1 and None not in found.values():
            return _in_words({name: turned(word or "") for name, word in found.items()})
    return {}


def _backwards(name: str) -> str:
    return name[::-1]


def _differences(names: Sequence[str]) -> list[str]:
    """Return the names without their longest common ending."""
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*map(reversed, names), strict=False))
    end = len(list(alike))
    return [name[: len(name) - end] for name in names]


def _word_of(name: str, words: frozenset[str]) -> str | None:
    """Return the longest of the words that the name begins with; None if there is none."""
    return max((word for word in words if name.startswith(word)), key=len, default=None)


def _in_words(found: Mapping[str, str]) -> dict[str, str]:
    """Return name -> its first whole word, if these words tell the clusters apart as ``found`` does; else ``found``.

    The names of ``east`` and ``west`` differ by ``ea`` and ``we`` only. Separators around words are taken off.
    """
    whole = {name: word[0] if (word := _FIRST_WORD.match(name)) else "" for name in found}
    alike = len({*zip(found.values(), whole.values(), strict=True)}) == len({*found.values()}) == len({*whole.values()})
    return whole if alike else {name: word.strip(_SEPARATORS) for name, word in found.items()}


def in_clusters(layout: InferredLayout, clusters: Mapping[Source, str]) -> InferredLayout:
    """Return the layout with its files and nodes moved to the clusters that ``clusters`` gives for their nodes."""
    files = [
        replace(file, cluster=clusters.get((file.cluster, file.source_node), file.cluster)) for file in layout.files
    ]
    assumed = [replace(node, cluster=clusters.get((node.cluster, node.node), node.cluster)) for node in layout.assumed]
    return replace(layout, files=files, assumed=sorted(assumed, key=by_cluster))


def by_cluster(node: Assumed) -> Source:
    """Return the (cluster, node) of an assumed node, as a sort key."""
    return node.cluster, node.node


TOGETHER = "read as a log of {}, the member that speaks in it"
_NUMBER = re.compile(r"[-_. ]?\(?\d{1,4}\)?\Z")


Span = tuple[str, str, datetime, datetime, bool]
"""(stream, path, first time, last time, begins with the start of a process) of a file."""


def logs_of_one(
    files: Sequence[LogFile],
    nodes: Sequence[str],
    kinds: Mapping[str, Set[str]],
    spans: Mapping[str, Sequence[Span]],
) -> dict[str, str]:
    """Return path -> the name under which a file is to be known, where ``nodes`` that speak as one member are logs of
    one process; empty if they are not.

    Each must be a single file of the same folder. They are of one process if no two have a kind of line in common
    (``kinds`` are those of each), or if they are numbered as rolled files are and, by the ``spans`` of each, follow on
    each other: two members with one id by mistake write at the same time.
    """
    of_nodes = [file for file in files if file.source_node in nodes]
    folders = {PurePosixPath(file.path).parent for file in of_nodes}
    if Counter(file.source_node for file in of_nodes) != Counter(nodes) or len(folders) > 1:
        return {}
    if all(kinds[node].isdisjoint(kinds[other]) for node, other in combinations(nodes, 2)):
        return {file.path: file.known_as for file in of_nodes}
    names = {stem(file.stream) for file in of_nodes}
    if {_NUMBER.sub("", name) for name in names} != {min(names, key=len)} or write_at_once(nodes, spans):
        return {}
    stream = min((file.stream for file in of_nodes), key=lambda stream: (len(stream), stream))
    return {file.path: f"{stream}.{number}" for number, file in enumerate(of_nodes, 1)}


def write_at_once(nodes: Sequence[str], spans: Mapping[str, Sequence[Span]]) -> bool:
    """Return True when two of the nodes wrote lines in more than one second that both have."""
    times = sorted((first, last) for node in nodes for _, _, first, last, _ in spans.get(node, ()))
    return any(last - first > timedelta(seconds=1) for (_, last), (first, _) in pairwise(times))


NO_BREAK = timedelta(minutes=1)
"""The longest time between the last line of a member's log in one folder and the first line of its rest in another."""


def rest_of(before: Sequence[Span], after: Sequence[Span]) -> bool:
    """Return True when the files of one folder are the rest of those of another: each log that both have ends in one,
    to the second, before it goes on in the other, and one of them does so without a break.

    A log that begins with the start of a process may be of another machine, to which the member moved.
    """
    ends = {stream: last for stream, _, _, last, _ in before}
    goes_on = {stream: first for stream, _, first, _, _ in reversed(after)}
    breaks = [goes_on[stream] - ends[stream] for stream in ends.keys() & goes_on.keys()]
    near = bool(breaks) and timedelta(seconds=-1) < min(breaks) <= NO_BREAK
    later = bool(before and after) and after[0][2] - before[0][2] > timedelta(seconds=1)
    return near and later and not any(starts for stream, _, _, _, starts in after if stream in ends)


def logs_in_turn(nodes: Sequence[str], spans: Mapping[str, Sequence[Span]]) -> dict[str, str]:
    """Return path -> the name under which a file is to be known, where the logs of ``nodes`` that speak as one member
    follow on each other, as of a host that was renamed; empty where they do not."""
    in_turn = sorted((spans[node] for node in nodes if spans.get(node)), key=lambda of_node: of_node[0][2])
    if len(in_turn) != len(nodes) or not all(rest_of(before, after) for before, after in pairwise(in_turn)):
        return {}
    files = [(stream, path) for of_node in reversed(in_turn) for stream, path, *_ in reversed(of_node)]
    older: Counter[str] = Counter()
    found = {}
    for stream, path in files:
        found[path] = f"{stream}.{older[stream]}" if older[stream] else stream
        older[stream] += 1
    return found


def read_together(layout: InferredLayout, nodes: Mapping[str, str], names: Mapping[str, str]) -> InferredLayout:
    """Return the layout with files given to other ``nodes`` and under other ``names``, both by path."""
    files = [
        replace(file, source_node=nodes[file.path], known_as=names[file.path]) if file.path in nodes else file
        for file in layout.files
    ]
    counts = Counter((file.cluster, file.source_node) for file in files)
    assumed = [replace(node, files=counts[node.cluster, node.node]) for node in layout.assumed]
    read = [(file.path, TOGETHER.format(file.source_node)) for file in files if file.path in nodes]
    return replace(
        layout,
        files=files,
        assumed=[node for node in assumed if node.files],
        read_otherwise=[*layout.read_otherwise, *read],
    )


Speakers = Callable[[LogFile], Sequence[tuple[int, str]]]
"""A function that returns (line number from 1, member) for the lines of a file in which a member speaks."""


def members_apart(
    layout: InferredLayout, speakers: Speakers, set_back: Collection[str], into: Path
) -> Iterator[InferredLayout]:
    """Yield the layout without files that hold several members, or several logs of one, then a layout of their parts,
    written into ``into``.

    The second layout is yielded only if there are parts. A folder with logs of several members, one stream each, is
    given a node for each of these streams. ``set_back`` are the paths of files in which time goes back.
    """
    kept, written = [], InferredLayout(str(into), [], [])
    speaking = {file.path: speakers(file) for file in layout.files}
    of_streams = streams_apart(layout.files, speaking)
    for file in layout.files:
        members = parts_of(file, layout, speaking[file.path], goes_back=file.path in set_back)
        if not members:
            apart = of_streams.get((file.cluster, file.source_node, file.stream))
            kept.append(replace(file, source_node=apart) if apart else file)
            continue
        for number, logs in enumerate(members, 1):
            node = f"{file.source_node}-part-{number}" if len(members) > 1 else file.source_node
            written.files.extend(written_part(file, node, log, lines, into) for log, lines in enumerate(logs, 1))
            by = f"the members that {file.path} names" if len(members) > 1 else f"the name of {file.path}"
            written.assumed.append(Assumed(file.cluster, node, len(logs), by))
        several = SEPARATE.format(len(members)) if len(members) > 1 else LOGS_OF_ONE.format(len(members[0]))
        written.read_otherwise.append((file.path, several))
    files = Counter((file.cluster, file.source_node) for file in kept)
    assumed = [replace(node, files=files.pop((node.cluster, node.node), 0)) for node in layout.assumed]
    assumed += [Assumed(*node, count, "the member that speaks there") for node, count in files.items()]
    yield replace(layout, files=kept, assumed=sorted((node for node in assumed if node.files), key=by_cluster))
    if written.files:
        yield written


def streams_apart(
    files: Sequence[LogFile], speaking: Mapping[str, Sequence[tuple[int, str]]]
) -> dict[tuple[str, str, str], str]:
    """Return (cluster, node, stream) -> new node name, for nodes whose streams are of different members.

    The member of a stream is the one that speaks in most of its lines.
    """
    members: dict[Source, dict[str, Counter[str]]] = defaultdict(dict)
    for file in files:
        heard = members[file.cluster, file.source_node].setdefault(file.stream, Counter())
        heard.update(member for _, member in speaking[file.path])
    return {
        (*source, stream): f"{source[1]}-{stem(stream)}"
        for source, streams in members.items()
        for stream, heard in streams.items()
        if heard and len({counts.most_common(1)[0][0] for counts in streams.values() if counts}) > 1
    }


def written_part(file: LogFile, node: str, number: int, lines: Sequence[bytes], into: Path) -> LogFile:
    """Write the lines of one log of a file into the folder ``into`` and return the new file, the ``number``-th log of
    ``node``."""
    name = PurePosixPath(unpacked(file.known_as) or unpacked(file.path)).name
    name = name if number == 1 else f"{stem(name)}-{number}{PurePosixPath(name).suffix}"
    (into / node).mkdir(parents=True, exist_ok=True)
    (into / node / name).write_bytes(text := b"".join(lines))
    return replace(file, path=f"{node}/{name}", source_node=node, size=len(text), known_as=name)


def parts_of(
    file: LogFile, layout: InferredLayout, speaking: Sequence[tuple[int, str]], *, goes_back: bool
) -> list[list[list[bytes]]]:
    """Return the lines of each log of each member in a file, which is cut wherever time goes back; empty if there is
    only one log.

    Empty also for a file of more than :data:`~jobs.landing.as_written.LARGEST` bytes. A section in which nobody
    speaks goes to the member before it, or at the beginning to the first that speaks; one that begins before the log of
    that member does is nobody's.
    """
    several = len({member for _, member in speaking}) > 1
    if (not several and not goes_back) or file.size > LARGEST:
        return []
    lines = Blocks(open_landing(layout.root), file.path, file.size).whole().splitlines(keepends=True)
    begins, before = [0], None
    for number, line in enumerate(lines):
        written = stamp_of(line)
        if written and before and written[0] == before[0] and written[1][:SECONDS] < before[1][:SECONDS]:
            begins.append(number)
        before = written or before
    members: dict[int, Counter[str]] = defaultdict(Counter)
    for number, member in speaking:
        members[bisect_left(begins, number)][member] += 1
    found: dict[str, list[list[bytes]]] = {}
    who = next(iter(members.values())).most_common(1)[0][0] if members else ""
    since: dict[str, float] = {}
    for at, (begin, end) in enumerate(zip(begins, [*begins[1:], len(lines)], strict=True), 1):
        who = members[at].most_common(1)[0][0] if members[at] else who
        first = first_time(lines[begin:end])
        earlier = several and not members[at] and first < since.get(who, first) - EARLIER
        since.setdefault(who, first)
        found.setdefault(f"{who} {at}" if earlier else who, []).append(lines[begin:end])
    logs = [logs_in(sections, joined=len(found) > 1) for sections in found.values()]
    return logs if len(logs) > 1 or len(logs[0]) > 1 else []


def first_time(lines: Sequence[bytes]) -> float:
    """Return the first time in lines, in seconds since some day; 0 if there is none."""
    return next((seconds(found) for line in lines if (found := stamp_of(line))), 0.0)


EARLIER = 30
"""The logs of one process begin within so many seconds of each other."""

SECONDS = 14
"""The digits of a stamp up to its seconds."""
