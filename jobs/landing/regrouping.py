"""Separate the clusters in one folder and the members in one file, by a first look at the lines.

Two clusters in one folder may have members with the same ids, and one file may hold the logs of several members, one
after the other. Clusters are separated when names with the same member id differ by the same words everywhere:
``prod-zk1``, ``prod-zk2`` and ``stage-zk1``, ``stage-zk2``. Members in one file are separated where time goes back
between the lines of one and the lines of another, and so are several logs of one process.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations, pairwise, takewhile
from pathlib import PurePosixPath

from election_replay.jobs.landing.inferred_layout import Assumed, InferredLayout, stem
from election_replay.jobs.landing.listing import LogFile

Source = tuple[str, str]
"""(cluster, node)."""

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


CLUSTERS = "its lines are of {} clusters, by the names of their nodes: {}; each is read apart"


def clusters_apart(layout: InferredLayout, clusters: Mapping[str, Mapping[str, str]]) -> InferredLayout:
    """Return the layout with each file that holds several clusters once for each, with the nodes whose lines it is read
    for. ``clusters`` are those of the nodes in each file, by path."""
    files, assumed, read = list[LogFile](), [*layout.assumed], [*layout.read_otherwise]
    for file in layout.files:
        nodes: dict[str, set[str]] = defaultdict(set)
        for node, cluster in clusters.get(file.path, {}).items():
            nodes[cluster].add(node)
        if len(nodes) < 2:
            files.append(file)
            continue
        read.append((file.path, CLUSTERS.format(len(nodes), ", ".join(sorted(nodes)))))
        for cluster, of_cluster in sorted(nodes.items()):
            files.append(replace(file, cluster=cluster, nodes=frozenset(of_cluster)))
            assumed.append(Assumed(cluster, file.source_node, 1, f"the name of {file.path}"))
    left = {(file.cluster, file.source_node) for file in files}
    assumed = [node for node in assumed if (node.cluster, node.node) in left]
    return replace(layout, files=files, assumed=assumed, read_otherwise=read)


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


def members_apart(layout: InferredLayout, speaking: Mapping[str, Collection[str]]) -> InferredLayout:
    """Return the layout with a node for each stream of a folder whose streams are of different members; ``speaking``
    are the members of the lines of each file, by path."""
    of_streams = streams_apart(layout.files, speaking)
    files = [
        replace(file, source_node=of_streams.get((file.cluster, file.source_node, file.stream), file.source_node))
        for file in layout.files
    ]
    counts = Counter((file.cluster, file.source_node) for file in files)
    assumed = [replace(node, files=counts.pop((node.cluster, node.node), 0)) for node in layout.assumed]
    assumed += [Assumed(*node, count, "the member that speaks there") for node, count in counts.items()]
    return replace(layout, files=files, assumed=sorted((node for node in assumed if node.files), key=by_cluster))


def streams_apart(files: Sequence[LogFile], speaking: Mapping[str, Collection[str]]) -> dict[tuple[str, str, str], str]:
    """Return (cluster, node, stream) -> new node name, for nodes whose streams are of different members.

    The member of a stream is the one that speaks in most of its lines.
    """
    members: dict[Source, dict[str, Counter[str]]] = defaultdict(dict)
    for file in files:
        heard = members[file.cluster, file.source_node].setdefault(file.stream, Counter())
        heard.update(speaking.get(file.path, ()))
    return {
        (*source, stream): f"{source[1]}-{stem(stream)}"
        for source, streams in members.items()
        for stream, heard in streams.items()
        if heard and len({counts.most_common(1)[0][0] for counts in streams.values() if counts}) > 1
    }
