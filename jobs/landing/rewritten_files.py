"""Rewrites, for a look, the files whose lines do not stand as they were written, or are of several servers of Redis."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from election_replay.election_core.model.streams import unpacked
from election_replay.jobs.landing.inferred_layout import Assumed, InferredLayout
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.processes import Process, members_of, one_after_another
from election_replay.jobs.landing.reversed_files import Turn, by_time, disorder, lines_of

SEPARATE = "it holds the lines of {} servers or sentinels of Redis: each is read apart"
LEFT_OUT = "; {} lines are left out, of a restart that may be of each of several"
BY = "the processes in {}"


def in_order(layout: InferredLayout, into: Path) -> Iterator[InferredLayout]:
    """Yield the layout without the files whose lines are not in the order in which they were written, then a layout of
    these, put into order, in ``into``.

    Yields only the layout itself when there are no such files.
    """
    zone = open_landing(layout.root)
    found = [(file, order) for file in layout.files if not file.below and (order := disorder(file, zone)) is not None]
    if not found:
        yield layout
        return
    turned = {file.path for file, _ in found}
    yield replace(
        layout,
        files=[file for file in layout.files if file.path not in turned],
        read_otherwise=[*layout.read_otherwise, *sorted((file.path, how) for file, (how, _) in found)],
    )
    files = [replace(written(file, zone, into, turn), order_lost=turn is by_time) for file, (_, turn) in found]
    yield InferredLayout(str(into), files, [])


def written(file: LogFile, zone: LandingZone, into: Path, turn: Turn) -> LogFile:
    """Write a file with its lines put into order, unpacked, into the folder ``into`` and return it."""
    target = into / unpacked(file.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in turn(lines_of(file, zone))).encode("utf-8", "surrogateescape")
    target.write_bytes(text)
    name = file.known_as or Path(unpacked(file.path)).name
    return replace(file, path=unpacked(file.path), size=len(text), known_as=unpacked(name))


def read_by_process(layout: InferredLayout, into: Path) -> Iterator[InferredLayout]:
    """Yield the layout without files that hold the lines of several servers or sentinels of Redis, then a layout of
    their parts, written into ``into``, if there are any."""
    zone = open_landing(layout.root)
    kept, written, read = [], InferredLayout(str(into), [], []), list(layout.read_otherwise)
    namesakes = Counter(PurePosixPath(file.path).name for file in layout.files)
    for file in layout.files:
        members, left_out = ([], []) if file.below else members_of(file, zone)
        if not members or (namesakes[PurePosixPath(file.path).name] > 1 and one_after_another(members, left_out)):
            kept.append(file)
            continue
        unread = sum(len(process.lines) for process in left_out)
        read.append((file.path, SEPARATE.format(len(members)) + (LEFT_OUT.format(unread) if unread else "")))
        for number, member in enumerate(members, 1):
            node = f"{file.source_node}-{member[0].kind}-{number}"
            written.files.append(part := part_of(file, node, member, into))
            written.assumed.append(Assumed(part.cluster, node, 1, BY.format(file.path)))
    left = {(file.cluster, file.source_node) for file in kept}
    assumed = [node for node in layout.assumed if (node.cluster, node.node) in left or not written.files]
    yield replace(layout, files=kept, assumed=assumed, read_otherwise=read)
    if written.files:
        yield written


def part_of(file: LogFile, node: str, member: Sequence[Process], into: Path) -> LogFile:
    """Write the lines of one server or sentinel of a file into the folder ``into`` and return the new file."""
    path = f"{node}/{PurePosixPath(unpacked(file.path)).name}"
    lines = [line for process in member for line in process.lines]
    (into / node).mkdir(parents=True, exist_ok=True)
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    (into / path).write_bytes(data)
    name = unpacked(file.known_as) or PurePosixPath(path).name
    return replace(file, path=path, source_node=node, size=len(data), known_as=name)
