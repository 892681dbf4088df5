"""Infers which file of a mailed folder of logs is of which node: by folder, by name or by its lines alone.

A folder in the pipeline's own layout is taken as it is. Elsewhere a file counts if the landing knows its name, or, in a
folder where no name is known, if it knows the first lines. The node is then the first folder that tells files apart;
where that still leaves two files of one name with one node, the folder below is the node and this one the cluster.
Files side by side are told apart by the parts of their names before or after the log's own. All of this is assumed, and
reported as such; what the logs themselves tell of their members is found later, by the fold.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from election_replay.election_core.dialects import NAMED, STREAMS, SYSTEMS, dialect_for
from election_replay.election_core.model.streams import stream_of, unpacked
from election_replay.jobs import JobError
from election_replay.jobs.landing.archives import is_archive
from election_replay.jobs.landing.blocks import head
from election_replay.jobs.landing.exports import known_inside
from election_replay.jobs.landing.heads import head_found
from election_replay.jobs.landing.landing_zone import Entry, LandingZone, Skipped, is_text, open_landing, printable
from election_replay.jobs.landing.listing import LogFile, log_files
from election_replay.jobs.landing.literals import TELLING_OF
from election_replay.jobs.landing.masking import masked
from election_replay.jobs.landing.recognising import looked_at, of_kubernetes
from election_replay.jobs.landing.understanding import LOOKED_AT, Understanding, speaks
from election_replay.jobs.landing.written_times import stamp
from election_replay.jobs.settings.config import Config
from election_replay.schemas.landed_files import NOT_UNDERSTOOD

PLACES = frozenset(
    {
        *("log", "logs", "rocketmqlogs", "otherdays", "nodes", "node", "hosts", "servers", "brokers", "pods"),
        *("var", "opt", "usr", "home", "root", "data", "store", "tmp", "mnt", "srv", "app", "apps"),
        *("output", "archive", "backup", "old"),
        *(place for system in SYSTEMS for place in (system.name, *system.places)),
    }
)
"""Folders that say what lies in them or where it came from, but not whose it is."""

_DAY = re.compile(r"(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d.*")
_PLAIN = sorted((name.removesuffix(".log") for name in STREAMS if not set(name) & set("*?[")), key=len, reverse=True)
_NAMES = "|".join(map(re.escape, _PLAIN))
_LOGS = "|".join(map(re.escape, (*_PLAIN, *(system.name for system in SYSTEMS if system.stream))))
_BEFORE = re.compile(rf"(?P<node>.+?)[-_.@+ ](?P<log>(?:{_LOGS})\.(?:log|out)|zookeeper-.+-server-.+\.(?:log|out))")
_AFTER = re.compile(rf"(?P<log>{_NAMES})[-_.@+ ](?P<node>.+)\.log")
_SERVER = re.compile(r"zookeeper-.*?-server-(?P<node>.+)\.(?:out|log)|etcd[-_.]?(?P<member>.+)\.log")
_SYSTEMS = "|".join(sorted({name.partition("*")[0] for name in STREAMS if name[0] != "*" and name.endswith("*.log*")}))
_PROCESS = re.compile(
    rf"(?P<node>(?P<log>{_SYSTEMS})[-_.]?(?:[a-z]+[-_.]?)*\d{{1,5}}|(?P<redis>redis|sentinel|valkey)[-_.].+)\.log"
)
"""``redis-master.log``, ``sentinel_26379.log``, ``kafka-broker-2.log``: the whole name is that of the process."""
_MEMBER = re.compile(r"(?<!\d)\d{1,3}\Z")
"""The number of a member at the end of its name; a longer one is a port, which hosts have in common."""
_RESTART = re.compile(r"\d{1,4}\.log")
"""A file of one run of a container: the kubelet counts its restarts, and the folder is the container's."""
_PREVIOUS = re.compile(
    r"(?<=\w)[-_. ](?:previous|prev|(?:before|after)(?:[-_. ]?restart)?|(?P<aged>old|new))"
    r"(?P<ending>(?:\.[a-z]{2,4})?)\Z"
)
"""What people add to the name of a log of the process that ran before a restart, or of the one after it."""
_SNAPSHOT = re.compile(r"(?P<node>.*?)/?metadata/(?P<below>\d{8}T\d{6}Z/.+)")

OWN_WORDS = frozenset({"default", "traffic", "error", "errors", "out", "err", "gc", "stats", "old", "all", "full"})
"""Words that systems and people add to the name of a log, and that name no node."""

ALONE = "nothing tells its files apart"
"""The reason why files are one node's where no folder and no name says whose they are."""

CONSOLE = ".out"
"""The ending of the name of a console's log."""


SEVERAL_LOGS = frozenset(dialect.system for name, dialect in STREAMS.items() if not set(name) & set("*?["))
"""The systems whose processes write several logs, each under a name of its own; their logs under other names are not
needed."""

LOOKED_AT_FIRST = 4 << 10
"""The bytes at the beginning of a file that show whether a part of Kubernetes wrote it."""

REASONS = 12
"""The most files of which the reason is given where none is understood."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What was assumed of a node: how many files are its own, and by which sign."""

    cluster: str
    node: str
    files: int
    by: str


@dataclass(frozen=True, slots=True)
class InferredLayout:
    """The logs of a folder. ``unknown`` are files that no dialect knows, by path, and why; ``read_otherwise`` are those
    that are not read as they stand, and how. ``configured``: the folder is in the configured layout."""

    root: str
    files: list[LogFile]
    assumed: list[Assumed]
    unknown: list[Skipped] = field(default_factory=list)
    read_otherwise: list[tuple[str, str]] = field(default_factory=list)
    configured: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that the landing understands, under the name ``known_as``. ``folders`` may tell whose it is, and
    ``node_name`` is what its own name says of that, if anything. ``log`` is which log it is, where a node's name stands
    in the file's; ``below`` as in ``LogFile``."""

    entry: Entry
    known_as: str
    folders: tuple[str, ...]
    node_name: str
    log: str = ""
    below: str = ""


def infer_layout(root: str, cluster: str, config: Config, copies: Collection[str] = ()) -> InferredLayout:
    """Return the logs in the folder ``root``; their cluster is called ``cluster`` where no folder names it.

    Files at the paths ``copies`` are passed over, unless the configured layout says whose they are.

    Raises :class:`~jobs.JobError` when the folder cannot be opened or holds nothing that is understood.
    """
    unknown: list[Skipped] = []
    try:
        files = log_files(root, config.layout, config.metadata_layout, unknown.append)
    except JobError:
        return by_signs(root, cluster, config, unknown, copies)
    nodes: dict[tuple[str, str], int] = defaultdict(int)
    for file in files:
        nodes[file.cluster, file.source_node] += 1
    assumed = [Assumed(*node, count, f"folder {node[1]}") for node, count in sorted(nodes.items())]
    return InferredLayout(root, [replace(file, settled=True) for file in files], assumed, unknown, configured=True)


def by_signs(
    root: str, cluster: str, config: Config, unknown: list[Skipped], copies: Collection[str]
) -> InferredLayout:
    """Return the logs of a folder that is not in the configured layout, without ``copies``."""
    zone = open_landing(root)
    entries = [entry for entry in zone.walk(unknown.append) if plain(entry, unknown) and entry.path not in copies]
    beside = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.path):
        beside[str(PurePosixPath(entry.path).parent)].append(entry)
    found = [sign for folder in beside.values() for sign in understood(folder, zone, config, unknown)]
    if not found:
        why = [f"  {file.path}  {file.reason}" for file in sorted(unknown, key=lambda file: file.harmless)[:REASONS]]
        raise JobError(f"no line that tells of elections was found in {root}", *why)
    return named(root, cluster, found, unknown)


def plain(entry: Entry, unknown: list[Skipped]) -> bool:
    """Return True when an entry is a file to look into; links and names that are no UTF-8 are added to ``unknown``."""
    if entry.link is not None:
        unknown.append(Skipped(printable(entry.path), "a link, not followed"))
    elif not is_text(entry.path):
        unknown.append(Skipped(printable(entry.path), "its name is no UTF-8"))
    return entry.link is None and is_text(entry.path) and entry.size > 0 and not is_archive(entry.path)


def understood(folder: Sequence[Entry], zone: LandingZone, config: Config, unknown: list[Skipped]) -> list[_Found]:
    """Return the files of one folder that a dialect reads: those whose names are known, or else by their first
    lines."""
    beside = {stream_of(PurePosixPath(entry.path).name) for entry in folder}
    found = [
        sign
        for entry in folder
        if (sign := known_by_name(entry, beside)) is not None and not of_kubernetes(beginning(entry, zone))
    ]
    known = {sign.entry.path for sign in found}
    rest = [entry for entry in folder if entry.path not in known]
    if found:
        by_name = {dialect.system for sign in found if (dialect := dialect_for(stream_of(sign.known_as))) is not None}
        others = [sign for entry in rest if (sign := of_other_system(entry, zone, config, by_name)) is not None]
        known = {sign.entry.path for sign in others}
        reason = "not a log of a system that is known, by its name"
        unknown += [Skipped(entry.path, reason, harmless=True) for entry in rest if entry.path not in known]
        return found + others
    return [sign for entry in rest if (sign := known_by_lines(entry, zone, config, unknown, beside)) is not None]


def beginning(entry: Entry, zone: LandingZone) -> str:
    """Return the first lines of a file as text."""
    return head(zone, entry.path, entry.size, LOOKED_AT_FIRST).data.decode("utf-8", "replace")


def of_other_system(entry: Entry, zone: LandingZone, config: Config, by_name: Collection[str]) -> _Found | None:
    """Return a log whose lines show its system, beside logs that are known by their names; None if they show none.

    None too for further logs of those systems, among the ones in ``by_name``, whose logs each have a name of their own.
    """
    log = stream_of(PurePosixPath(entry.path).name).endswith((".log", ".txt", CONSOLE))
    if not log and not any(map(stamp, beginning(entry, zone).splitlines())):
        return None
    data, problem, _ = head(zone, entry.path, entry.size, looked_at(PurePosixPath(entry.path).name))
    file = LogFile(entry.path, "", "", entry.size, entry.modified, settled=True)
    name = None if problem else head_found(file, data, config).dialect
    further = NAMED[name].system in SEVERAL_LOGS & {*by_name} if name else not known_inside(file, zone, config)
    return None if problem or further else known_by_lines(entry, zone, config, [])


def without_life(stream: str, beside: Collection[str]) -> str:
    """Return the name of a log without the words that say which run of its process wrote it.

    An ``old`` or ``new`` log is of the same process only where a log without that word lies ``beside`` it: an old
    cluster and a new one are two.
    """
    life = _PREVIOUS.search(stream)
    without = _PREVIOUS.sub(r"\g<ending>", stream)
    return stream if life and life["aged"] and without not in beside else without


def known_by_name(entry: Entry, beside: Collection[str]) -> _Found | None:
    """Return a file whose name says which log it is, and perhaps whose, or a metadata snapshot; None for other
    names."""
    path = PurePosixPath(entry.path)
    if snapshot := _SNAPSHOT.fullmatch(entry.path):
        return _Found(entry, "", telling(PurePosixPath(snapshot["node"]).parts), "", below=snapshot["below"])
    stream = stream_of(path.name)
    if stream in STREAMS:
        return _Found(entry, path.name, telling(path.parent.parts), "")
    folders = telling(path.parent.parts)
    rolled = "" if path.name == stream else ".1"
    for node, known_as, log in parted(stream):
        if node.lower() not in OWN_WORDS and not _DAY.fullmatch(node) and not of_another_system(stream, known_as):
            return _Found(entry, known_as + (".1" if _PREVIOUS.search(node) else rolled), folders, named_by(node), log)
    plain_name = without_life(stream, beside)
    known_as = path.name if plain_name == stream else f"{plain_name}.1"
    return _Found(entry, known_as, folders, "") if dialect_for(stream) else None


def named_by(node: str) -> str:
    """Return the name of a node that was found in that of a file, without the word for a run of its process."""
    return _PREVIOUS.sub("", node).strip()


def of_another_system(stream: str, known_as: str) -> bool:
    """Return True when the whole name says another system than its end: ``redis-server.log`` is no ``server.log`` of
    Kafka."""
    whole, end = dialect_for(stream), dialect_for(known_as)
    return whole is not None and end is not None and whole.system != end.system


def parted(stream: str) -> Iterator[tuple[str, str, str]]:
    """Yield the node's name in that of a file, the name under which the file is known, and which log it is, if all this
    shows."""
    if found := _BEFORE.fullmatch(stream):
        yield found["node"], found["log"], found["log"]
    elif found := _SERVER.fullmatch(stream):
        yield found["node"] or found["member"], stream, stream[:4]
    elif found := _PROCESS.fullmatch(stream):
        yield found["node"], stream, found["log"] or found["redis"]
    elif found := _AFTER.fullmatch(stream):
        numbered = re.sub(r"\A\((\d+)\)\Z", rf"{found['log']}-\1", found["node"])  # broker (2).log, as Windows copies
        yield numbered, f"{found['log']}.log", found["log"]


def known_by_lines(
    entry: Entry, zone: LandingZone, config: Config, unknown: list[Skipped], beside: Collection[str] = ()
) -> _Found | None:
    """Return a file whose lines say which system wrote it, by what the landing itself makes of its beginning; else
    None."""
    path = PurePosixPath(entry.path)
    other = of_kubernetes(beginning(entry, zone))
    stream = f"{path.name}.klog" if other else stream_of(path.name)  # the name of such a file says nothing
    data, problem, _ = head(zone, entry.path, entry.size, looked_at(stream))
    known_as = stream if other else ""
    file = LogFile(entry.path, "", "", entry.size, entry.modified, settled=True, known_as=known_as)
    if problem or (head_found(file, data, config).dialect is None and not known_inside(file, zone, config)):
        harmless = problem is None and (other or not stream.endswith((".log", CONSOLE)))
        reason = problem or ("a log of Kubernetes itself" if other else reason_of(data, stream))
        unknown.append(Skipped(entry.path, reason, harmless=harmless))
        return None
    if _RESTART.fullmatch(stream) and path.parent.name:
        return _Found(entry, f"{path.parent.name}.{stream}", telling(path.parent.parts), "")
    log = without_life(stream, beside)
    name = "" if path.suffix == f".{log}" else stem(log)  # 2026-11-21.json names a day, and no node
    return _Found(entry, file.known_as if log == stream else f"{log}.1", telling(path.parent.parts), name)


def reason_of(data: bytes, stream: str) -> str:
    """Return why a file that begins with ``data`` is not understood, as far as that shows."""
    if b'"brokerConfigs"' in data:
        return (
            "RocketMQ's bin/export.sh wrote it: settings and counts; the logs are in ~/logs/rocketmqlogs of each broker"
        )
    if stream.lower().endswith(DOCUMENTS):
        return "it is a document of an office program: ask for the lines as text"
    looks = Understanding(stream, None)
    looks.begin(data)
    if found := looks.problem(masked):
        return found.removeprefix(NOT_UNDERSTOOD)
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()][:LOOKED_AT]
    of_layouts = [(name, dialect.reads) for name, dialect in NAMED.items() if dialect.reads is not bool]
    alike = [name for name, reads in of_layouts if 2 * sum(map(reads, lines)) > len(lines)]
    if len(alike) == 1:
        ask = next((f": ask for {of.telling_files(stream)}" for of in SYSTEMS if of.dialect.name == alike[0]), "")
        return f"its lines are laid out as those of {alike[0]}, but none in its beginning tells of elections{ask}"
    if not any(map(stamp, lines)):
        spoken = [name for name in TELLING_OF if any(speaks(name, line) for line in lines)]
        if len(spoken) == 1:
            return f"its lines are those of {spoken[0]} without their times: ask for them as they were written"
    return next(
        (why for sign, why in OF_OTHERS.items() if sign in data), "no line of a system that is known in its beginning"
    )


DOCUMENTS = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".doc", ".xls", ".msg")
"""Endings of the names of documents, some of which are archives of their parts."""

OF_OTHERS = {
    b"patroni": "Patroni wrote it: who leads the store in which it keeps its lock is in the logs of etcd, Consul or "
    "ZooKeeper",
    b"%PDF-": "it is a document: ask for the lines as text",
    b"\x89PNG": "it is a picture: ask for the lines as text",
    b"\xff\xd8\xff": "it is a picture: ask for the lines as text",
    b"NuRaft": "a system that is not known here wrote it, by the library NuRaft",
}
"""What other programs write, and what to ask for instead."""


def telling(folders: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that may be names of clusters or nodes."""
    return tuple(folder for folder in folders if folder.lower() not in PLACES and not _DAY.fullmatch(folder))


def stem(stream: str) -> str:
    """Return a file's name up to its first dot; all of it if nothing stands before the dot."""
    return stream.partition(".")[0] or stream


def named(root: str, cluster: str, found: Sequence[_Found], unknown: list[Skipped]) -> InferredLayout:
    """Return the files with the nodes and clusters that they are assumed to be of."""
    shared = common([item.folders for item in found])
    above = shared[-1] if shared else ""
    found = [replace(item, folders=item.folders[len(shared) :]) for item in found]
    split: dict[str, list[_Found]] = defaultdict(list)
    deep, of_members = holds_clusters(found), folders_of_members(found)
    for item in found:
        below = len(item.folders) > 1 if deep else item.folders[:1] in of_members
        split[item.folders[0] if below else cluster].append(replace(item, folders=item.folders[below:]))
    layout = InferredLayout(root, [], [], unknown)
    for name, of_name in sorted(split.items()):
        by_node = defaultdict(list)
        for item in of_name:
            by_node[item.folders[0] if item.folders else ""].append(item)
        for folder, files in sorted(by_node.items()):
            assign(layout, name, folder, above or cluster, files, f"folder {above}" if above else ALONE)
    layout.files.sort(key=lambda file: file.path)
    return layout


def common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the folders with which all paths begin."""
    first, last = min(paths), max(paths)
    length = next((at for at, (left, right) in enumerate(zip(first, last, strict=False)) if left != right), len(first))
    return first[: min(length, len(last))]


def holds_clusters(found: Iterable[_Found]) -> bool:
    """Return True when the first folders are clusters: one of them holds logs of the same name and node in two
    folders."""
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in found:
        if len(file.folders) > 1:
            places[file.folders[0], f"{file.node_name} {stream_of(file.known_as)}"].add(file.folders[1])
    return any(len(below) > 1 for below in places.values())


def folders_of_members(found: Iterable[_Found]) -> set[tuple[str, ...]]:
    """Return the folders that are clusters because they hold, side by side, logs of members that another folder has
    too. Beside a log without a number, numbers may be those of rolled files."""
    names: dict[tuple[str, ...], set[str]] = defaultdict(set)
    plain = {file.folders for file in found if not file.node_name}
    for file in found:
        if len(file.folders) == 1 and file.folders not in plain and _MEMBER.search(file.node_name):
            names[file.folders].add(file.node_name)
    twice = {name for name, count in Counter(name for of in names.values() for name in of).items() if count > 1}
    return {folder for folder, of in names.items() if len(of & twice) > 1}


def assign(
    layout: InferredLayout, cluster: str, folder: str, otherwise: str, files: Collection[_Found], by: str
) -> None:
    """Add the files of one folder to the layout: as one node's, or, where their names tell them apart, as those of
    several.

    ``otherwise`` is the node where neither folder nor name tells one, and ``by`` the sign that is reported for it.
    """
    alone = not folder and all(file.node_name for file in files)
    beside = not folder and any(file.node_name and not file.log for file in files)
    apart = told_apart(files) or alone or beside
    by_node: dict[str, list[_Found]] = defaultdict(list)
    for file in files:
        name = file.node_name if apart else ""
        by_node["-".join(filter(None, (folder, name))) if name or folder else otherwise].append(file)
    for node, own_files in sorted(by_node.items()):
        layout.assumed.append(Assumed(cluster, node, len(own_files), why(node, folder, own_files, by, apart=apart)))
        for file in own_files:
            entry = file.entry
            layout.files.append(
                LogFile(
                    entry.path,
                    cluster,
                    node,
                    entry.size,
                    entry.modified,
                    settled=True,
                    below=file.below,
                    known_as=file.known_as,
                )
            )


def told_apart(files: Iterable[_Found]) -> bool:
    """Return True when files of one folder are of several nodes by their names: the same log is there of several
    nodes."""
    names: dict[str, set[str]] = defaultdict(set)
    for file in files:
        if file.node_name:
            names[file.log or file.entry.path].add(file.node_name)
    return any(len(nodes) > 1 for nodes in names.values())


def why(node: str, folder: str, files: Sequence[_Found], by: str, *, apart: bool) -> str:
    """Return the sign by which files were taken to be a node's."""
    if node == folder:
        return f"folder {folder}"
    if apart and any(file.node_name for file in files):
        where = f" in folder {folder}" if folder else ""
        name = PurePosixPath(files[0].entry.path).name
        return f"the name of {unpacked(name)}{where}" if len(files) == 1 else f"names like {unpacked(name)}{where}"
    return by
