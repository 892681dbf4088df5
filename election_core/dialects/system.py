"""A system as one row: its table of texts and their effects, its files, its releases, and its operators' terms.

Other packages take what they need to know about a system from its row, and name no system that has one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from election_replay.election_core.dialects.dialect import Dialect, Table
from election_replay.election_core.model.deeds import Deed


@dataclass(frozen=True, slots=True)
class Spoken:
    """A protocol of a system, with the system's names for its logical clock and its leader. ``many_groups``: a process
    is in thousands of its groups, under its name in another group."""

    protocol: str
    clock: str = "term"
    leader: str = "leader"
    many_groups: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One row.

    ``title`` is the name as its makers write it. ``streams`` are its files, by name or pattern, without the suffixes of
    rolling and compression; ``stream`` is the file name used when no name is known, if one process writes one file.
    ``processes`` write the files whose names begin so, and ``process`` all others; None: each of those has a process of
    its own. ``keeps_names``: a file with another name is not renamed after the system. ``places`` are folder names that tell what a folder holds, but not whose
    it is. ``releases`` are the first and last release whose sources were read. ``member`` is what a process calls
    itself by. ``says_farewell``: a process that is stopped logs that. ``shared_streams`` are file names that another
    system uses too, so that their lines must decide. ``roles_stand_in``: the files that show who leads, for people; by
    default the whole log of each process; ``roles_beside`` are those for a file of another process.
    """

    title: str
    dialect: Dialect
    table: Table
    streams: tuple[str, ...]
    stream: str | None
    protocols: tuple[Spoken, ...]
    releases: tuple[tuple[int, int], tuple[int, int]]
    member: str
    process: str | None = None
    processes: Mapping[str, str] = field(default_factory=dict)
    places: tuple[str, ...] = ()
    says_farewell: bool = True
    shared_streams: tuple[str, ...] = ()
    roles_stand_in: str = ""
    roles_beside: Mapping[str, str] = field(default_factory=dict)
    keeps_names: bool = False

    @property
    def name(self) -> str:
        """The name in settings."""
        return self.dialect.name

    def telling_files(self, stream: str) -> str:
        """Return the files that show who leads, in words for people who have one of its files."""
        by_default = f"the whole log of each {self.title} node, from before its start or the trouble"
        return self.roles_beside.get(self.process_of(stream)) or self.roles_stand_in or by_default

    @property
    def does(self) -> Mapping[Deed, frozenset[str]]:
        """The kinds of events by their effects."""
        return self.table.does

    def writes(self, stream: str) -> bool:
        """Return True when one of its processes writes files of that name, which may have the system's name as a
        prefix."""
        named = stream.startswith((f"{self.name}-", *self.processes))
        return named or any(fnmatchcase(stream, pattern) for pattern in self.streams)

    def process_of(self, stream: str) -> str:
        """Return the process that writes one of its files."""
        by_name = (process for beginning, process in self.processes.items() if stream.startswith(beginning))
        return next(by_name, self.process or stream)
