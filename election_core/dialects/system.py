"""A system as one row: its table of texts with what they do, its files, its releases, and the words of its operators.

What other rooms need to know of a system they ask of its row; none of them names a system that has one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from election_replay.election_core.dialects.dialect import Dialect, Table
from election_replay.election_core.model.deeds import Deed


@dataclass(frozen=True, slots=True)
class Spoken:
    """A protocol of a system, and what the system calls its logical clock and the one who decides.

    ``many_groups``: a process is in thousands of its groups, under the name that it has in another one.
    """

    protocol: str
    clock: str = "term"
    leader: str = "leader"
    many_groups: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One row.

    ``title`` is the name as its makers write it. ``streams`` are its files, by name or pattern, without what rolling
    and compression add; ``stream`` is the one of a process of which no name tells it. ``process`` writes them all;
    ``None``: each is written by a process of its own. ``places`` are names of folders that say what lies in them, and
    not whose it is. ``releases`` are the first and the last one whose sources were read. ``member`` is what a process
    names itself by. ``says_farewell``: a process that is stopped says so in its log. ``shared_streams`` are
    names of files that another system gives too: their lines tell whose they are. ``roles_stand_in``, where it is not
    the whole log of each process, are the files that tell who leads, in words for people.
    """

    title: str
    dialect: Dialect
    table: Table
    streams: tuple[str, ...]
    stream: str
    protocols: tuple[Spoken, ...]
    releases: tuple[tuple[int, int], tuple[int, int]]
    member: str
    process: str | None = None
    places: tuple[str, ...] = ()
    says_farewell: bool = True
    shared_streams: tuple[str, ...] = ()
    roles_stand_in: str = ""

    @property
    def name(self) -> str:
        """As settings name it."""
        return self.dialect.name

    @property
    def telling_files(self) -> str:
        """The files that tell who leads, in words for people."""
        return self.roles_stand_in or f"the whole log of each {self.title} node, from before its start or the trouble"

    @property
    def does(self) -> Mapping[Deed, frozenset[str]]:
        """The kinds of events that do something."""
        return self.table.does

    def writes(self, stream: str) -> bool:
        """Whether one of its processes writes files of that name, which may begin with the system's."""
        return stream.startswith(f"{self.name}-") or any(fnmatchcase(stream, pattern) for pattern in self.streams)

    def process_of(self, stream: str) -> str:
        """The process that writes one of its files."""
        return self.process or stream
