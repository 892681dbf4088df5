"""Separate the clusters whose lines stand in one file, as of a log store that was asked for all hosts.

The nodes that the envelopes of the lines name tell them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from election_replay.election_core.dialects import speaker_of
from election_replay.election_core.envelopes import Inner, Reader
from election_replay.election_core.model.streams import unpacked
from election_replay.jobs.landing.as_written import LARGEST
from election_replay.jobs.landing.blocks import Block, Blocks
from election_replay.jobs.landing.enveloped import chain_of, lines_in
from election_replay.jobs.landing.inferred_layout import Assumed, InferredLayout
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.listing import LogFile

CLUSTERS = "its lines are of {} clusters, by the names of their nodes: {}; each is read apart"


def clusters_apart(
    layout: InferredLayout, clusters: Mapping[str, Mapping[str, str]], into: Path
) -> Iterator[InferredLayout]:
    """Yield the layout without files that hold several clusters, then a layout of their parts, written into ``into``,
    if there are any. ``clusters`` are those of the nodes in each file, by path."""
    zone, kept, written = open_landing(layout.root), [], InferredLayout(str(into), [], [])
    for file in layout.files:
        names = sorted(set(clusters.get(file.path, {}).values()))
        if len(names) < 2 or file.size > LARGEST:
            kept.append(file)
            continue
        for cluster, data in parts_of(file, zone, clusters[file.path]).items():
            target = into / cluster / PurePosixPath(unpacked(file.path)).name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            path = f"{cluster}/{target.name}"
            written.files.append(replace(file, path=path, cluster=cluster, size=len(data), known_as=target.name))
            written.assumed.append(Assumed(cluster, file.source_node, 1, f"the name of {file.path}"))
        written.read_otherwise.append((file.path, CLUSTERS.format(len(names), ", ".join(names))))
    left = {(file.cluster, file.source_node) for file in kept}
    yield replace(layout, files=kept, assumed=[node for node in layout.assumed if (node.cluster, node.node) in left])
    if written.files:
        yield written


def parts_of(file: LogFile, zone: LandingZone, clusters: Mapping[str, str]) -> dict[str, bytes]:
    """Return the lines of each cluster in a file; a line that names no node is of the cluster of the one before it."""
    data = Blocks(zone, file.path, file.size).whole()
    reader = Reader(chain_of(file.stream, data), lambda text: speaker_of(text) is not None)
    found: dict[str, list[str]] = defaultdict(list)
    now = next(iter(clusters.values()))
    for number, line, _, _ in lines_in(Block(data, len(data)), 1, bytewise=False):
        nodes = [inner.node for inner in reader.read(number, line) if isinstance(inner, Inner) and inner.node]
        now = next((clusters[node] for node in nodes if node in clusters), now)
        found[now].append(line)
    return {name: "".join(f"{line}\n" for line in lines).encode("utf-8", "replace") for name, lines in found.items()}
