"""A look: a mailed folder of logs, landed and judged into a warehouse of its own.

It needs no settings, and nothing is kept from earlier looks. The result says what was assumed of the folder, and what
could not be read or understood.
"""

import shutil
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from pathlib import Path

from election_replay.election_core.model.inventory import Inventory, InventoryRow
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.land import Landing, land
from election_replay.jobs.landing.archives import NOT_UNPACKED, PACKED, Bounds, is_archive, unpack
from election_replay.jobs.landing.inferred_layout import Assumed, InferredLayout, infer_layout
from election_replay.jobs.landing.landing_zone import Skip, Skipped, open_landing
from election_replay.jobs.landing.regrouping import (
    Source,
    Span,
    clusters_apart,
    clusters_in,
    in_clusters,
    logs_in_turn,
    logs_of_one,
    members_apart,
    read_together,
)
from election_replay.jobs.reading.kinship import (
    groups_by_kinship,
    kinds_of_lines,
    members_spoken,
    namesakes,
    repeated_files,
    spans_of_files,
)
from election_replay.jobs.reading.landed_files import files_put_right
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import Replay, replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

Member = tuple[str, str]
"""(group, member)."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of a look. ``layouts`` are the files that it landed, ``skipped`` what was not read or not understood;
    harmless where nothing is missed. ``read_otherwise`` are the files that are not read as they stand, and how.
    ``published`` reads what was judged; ``None`` if nothing was."""

    layouts: list[InferredLayout]
    assumed: list[Assumed]
    landings: list[Landing]
    replay: Replay
    published: Published | None
    skipped: list[Skipped] = field(default_factory=list)
    read_otherwise: list[tuple[str, str]] = field(default_factory=list)

    @property
    def unread(self) -> tuple[tuple[str, str], ...]:
        """The files that could not be read to their ends, and why."""
        return tuple(file for landing in self.landings for file in landing.unread)


def look(
    engine: Engine, folder: str, warehouse: Warehouse, config: Config, scratch: Path, day: date | None = None
) -> Looked:
    """Land and judge the logs in ``folder``, which may be an archive or a single log; archives are unpacked into
    ``scratch``. ``day`` is that of the last lines of logs whose times do not tell it.

    Raises :class:`~jobs.JobError` when there is nothing that can be read or understood.
    """
    if not folder or not there(folder) or not (Path(folder).is_file() or Path(folder).is_dir()):
        raise JobError(nothing(folder))
    skipped: list[Skipped] = []
    roots = roots_in(Path(folder), scratch / "unpacked", skipped)
    layouts = layouts_of(roots, Path(folder), config, skipped, day)
    parts: list[InferredLayout] = layouts
    landings, done, published = landed_and_judged(engine, parts, warehouse, config)
    placed = {file.path for layout in layouts if layout.configured for file in layout.files}
    repeated = repeated_files(published) if published else {}
    copies = {path: other for path, other in repeated.items() if path not in placed}
    if copies:
        warehouse.clear()
        parts = layouts = layouts_of(roots, Path(folder), config, [], day, copies)
        landings, done, published = landed_and_judged(engine, parts, warehouse, config)
    apart = regrouped(parts, published) if published else []
    if apart:
        warehouse.clear()
        parts = apart
        landings, done, published = landed_and_judged(engine, parts, warehouse, config)
    skipped += [item for layout in layouts for item in layout.unknown]
    skipped += [Skipped(path, problem) for landing in landings for path, problem in landing.unread]
    assumed = assumed_of(parts)
    otherwise = [file for part in parts for file in part.read_otherwise]
    otherwise += files_put_right(published) if published else []
    otherwise += [(path, f"a copy, read once: all its lines are in {other}") for path, other in sorted(copies.items())]
    return Looked(parts, assumed, landings, done, published, skipped, otherwise)


def assumed_of(parts: Sequence[InferredLayout]) -> list[Assumed]:
    """Return what is assumed of each node, its files in all ``parts`` together, sorted by cluster and node."""
    nodes: dict[tuple[str, str], Assumed] = {}
    for node in chain.from_iterable(part.assumed for part in parts):
        known = nodes.get((node.cluster, node.node))
        nodes[node.cluster, node.node] = replace(known, files=known.files + node.files) if known else node
    return [nodes[key] for key in sorted(nodes)]


def landed_and_judged(
    engine: Engine, parts: Sequence[InferredLayout], warehouse: Warehouse, config: Config
) -> tuple[list[Landing], Replay, Published | None]:
    """Land files into a new warehouse, and judge them; read what was judged, if anything was."""
    landings = [land(engine, part.files, part.root, warehouse, config) for part in parts if part.files]
    return landings, *replay_with_kin(engine, warehouse, config.inventoried())


def regrouped(parts: Sequence[InferredLayout], published: Published) -> list[InferredLayout]:
    """Return the layouts with members and clusters told apart that stood together, as their lines show; none if nothing
    changes."""
    speaking = members_spoken(published)
    found = [members_apart(layout, speaking) for layout in parts]
    same, kinds, spans = namesakes(published), kinds_of_lines(published), spans_of_files(published)
    found = [together(part, same, kinds, spans) for part in found]
    clusters = clusters_of(found, same, spans)
    if [part.files for part in found] == [part.files for part in parts] and not clusters:
        return []
    shared: dict[str, dict[str, str]] = defaultdict(dict)
    for (name, node), cluster in clusters.items():
        for _, path, *_ in spans.get((name, node), ()):
            shared[path][node] = cluster
    return [clusters_apart(in_clusters(part, clusters), shared) for part in found]


def clusters_of(
    parts: Sequence[InferredLayout],
    same: Mapping[str, Mapping[Member, list[str]]],
    spans: Mapping[Source, Sequence[Span]],
) -> dict[Source, str]:
    """Return the cluster of each source where names tell clusters apart; ``same`` and ``spans`` as of
    :func:`together`. A file whose lines name their nodes is no source itself."""
    files = [*chain.from_iterable(part.files for part in parts)]
    spoken = {path for of_source in spans.values() for _, path, *_ in of_source}
    paths = {file.path for file in files}
    sources = {(file.cluster, file.source_node) for file in files if file.path not in spoken}
    sources |= {source for source, of_source in spans.items() if any(path in paths for _, path, *_ in of_source)}
    nodes: dict[str, set[str]] = defaultdict(set)
    for name, node in sources:
        nodes[name].add(node)
    several = {
        name: [left for of in members.values() if len(left := [node for node in of if node in nodes[name]]) > 1]
        for name, members in same.items()
    }
    words = {name: clusters_in(of, sorted(nodes[name])) for name, of in several.items()}
    return {(name, node): word or name for name, of in words.items() for node, word in of.items()}


def together(
    layout: InferredLayout,
    same: Mapping[str, Mapping[Member, list[str]]],
    kinds: Mapping[Source, frozenset[str]],
    spans: Mapping[Source, Sequence[Span]],
) -> InferredLayout:
    """Return the layout with logs of one process read as one node's.

    ``same`` are the nodes that speak as one member, as :func:`~jobs.reading.kinship.namesakes` returns them; ``kinds``
    are those of the lines of each node, and ``spans`` those of its files.
    """
    nodes: dict[str, str] = {}
    names: dict[str, str] = {}
    for cluster, members in same.items():
        files = [file for file in layout.files if file.cluster == cluster]
        of_nodes = {node: of for (name, node), of in kinds.items() if name == cluster}
        for sources in members.values():
            of_sources = {node: of for (name, node), of in spans.items() if name == cluster and node in sources}
            found = logs_of_one(files, sources, of_nodes, of_sources) or logs_in_turn(sources, of_sources)
            names |= found
            nodes |= dict.fromkeys(found, min(sources, key=lambda source: (len(source), source)))
    return read_together(layout, nodes, names) if nodes else layout


def replay_with_kin(engine: Engine, warehouse: Warehouse, inventory: Inventory) -> tuple[Replay, Published | None]:
    """Judge what was landed; once more, with the groups found, if a log does not say its group but other logs do."""
    done = replay(engine, warehouse, inventory, settings="the defaults")
    published = Published(warehouse) if done.run_id else None
    kin = groups_by_kinship(published) if published else {}
    if not kin:
        return done, published
    listed = {source: InventoryRow(group) for source, group in kin.items()} | dict(inventory.listed)
    done = replay(engine, warehouse, replace(inventory, listed=listed), settings="the defaults")
    return done, Published(warehouse) if done.run_id else None


def roots_in(folder: Path, unpacked: Path, skipped: list[Skipped]) -> list[Path]:
    """Return a folder itself, and the folder with its archives unpacked."""
    roots = [alone(folder, unpacked)] if folder.is_file() and not is_archive(folder.name) else []
    roots += [folder] if folder.is_dir() else []
    if unpack_all(folder, unpacked, skipped.append) and unpacked.is_dir():
        roots.append(unpacked)
    return roots


def layouts_of(
    roots: Sequence[Path],
    folder: Path,
    config: Config,
    skipped: Sequence[Skipped],
    day: date | None,
    copies: Collection[str] = (),
) -> list[InferredLayout]:
    """Return the layout of each root that holds logs, without ``copies``; ``folder`` is what the user gave, ``day`` as
    for :func:`look`.

    Raises :class:`~jobs.JobError` if none of them holds a log.
    """
    cluster = stem(folder.resolve().name) or "logs"
    problems: list[JobError] = []
    layouts = []
    for root in roots:
        try:
            layout = infer_layout(str(root), cluster, config, copies)
        except JobError as error:
            problems.append(error)
            continue
        layouts.append(replace(layout, files=[replace(file, day=day) for file in layout.files]))
    if not any(layout.files for layout in layouts):
        why = [f"{file.path}: {file.reason}" for file in skipped[:3]]
        first = [as_given(str(line), roots, folder) for line in problems[0].args] if problems else [nothing(folder)]
        raise JobError(*first, *why)
    return layouts


def as_given(text: str, roots: Collection[Path], folder: Path) -> str:
    """Return a message with the given folder's name in place of those of our own copies."""
    for root in roots:
        text = text.replace(str(root), str(folder))
    return text


def alone(file: Path, unpacked: Path) -> Path:
    """Return a folder that holds a copy of this file and nothing else."""
    folder = unpacked.with_name("alone")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, folder / file.name)
    return folder


def there(folder: str | Path) -> bool:
    """Return True for a path at which something can be looked at; a name may be too long for any."""
    try:
        Path(folder).stat()
    except (OSError, ValueError):
        return False
    return True


def nothing(folder: str | Path) -> str:
    """Return the message that there is nothing to look into."""
    if not str(folder):
        return "give a folder, a log or an archive, or - for a text on standard input"
    if not there(folder):
        return f"{folder} is not there: give a folder, a log or an archive, or - for a text on standard input"
    return f"{folder} is neither a folder, nor a log, nor an archive that can be unpacked ({', '.join(PACKED)})"


def unpack_all(folder: Path, into: Path, skip: Skip) -> bool:
    """Unpack the archives in a folder, or the archive that ``folder`` is; return True if there was one."""
    into.parent.mkdir(parents=True, exist_ok=True)
    bounds = Bounds.of_disk(into.parent)
    if folder.is_file():
        if is_archive(folder.name):
            unpack(folder, folder.name, into / stem(folder.name), bounds, skip)
        return is_archive(folder.name)
    found = False
    for entry in list(open_landing(str(folder)).walk(lambda _: None)):
        if entry.link is None and is_archive(entry.path):
            place = into / stem(entry.path)  # two archives of one name are two folders
            unpack(folder / entry.path, entry.path, into / entry.path if place.exists() else place, bounds, skip)
            found = True
        elif entry.path.lower().endswith(NOT_UNPACKED):
            skip(Skipped(entry.path, "an archive of a kind that is not unpacked here"))
    return found


def stem(name: str) -> str:
    """Return the name of an archive without its ending; that of another file as it is."""
    ending = max((suffix for suffix in PACKED if name.lower().endswith(suffix)), key=len, default="")
    return name[: len(name) - len(ending)]
