"""``conf/pipeline.yaml`` as one frozen value. Every setting has a default, so the file may be missing."""

import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import yaml

from election_core.dialects import DIALECTS, named
from election_core.replay import Inventory
from election_core.witness import Listed
from jobs import JobError
from jobs.yaml_lines import at, yaml_with_lines
from jobs.zones import is_zone

T = TypeVar("T")

LEAST = {"clock_bound_ms": 0, "shuffle_partitions": 1}
"""The smallest values of numbers that have one."""

DEFAULT_FILE = Path("conf/pipeline.yaml")
"""Where the settings are looked for when no file is named."""


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What is known of the machines whose cluster and node folders fit the patterns (``*`` fits all)."""

    cluster: str = "*"
    node: str = "*"
    clock_bound_ms: int | None = None
    utc_offset_minutes: int | None = None
    time_zone: str | None = None
    node_from: str | None = None


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """Whom the logs of one folder speak for, where they do not say so themselves.

    ``member`` is the name inside of ``replica_group``: a broker id, a DLedger ``selfId``, a ``myid``.
    """

    cluster: str
    node: str
    replica_group: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class LayoutRule:
    """Which system writes the files whose names fit ``files``, and in which layout.

    ``layout`` is the pattern string of log4j or logback, or the keys of a line of JSON, such as
    ``json time=T message=M``; ``None``: it is told from the lines.
    """

    files: str
    system: str
    layout: str | None = None
    cluster: str = "*"
    node: str = "*"

    @property
    def dialect(self) -> str:
        """The name of the dialect, with its layout."""
        return f"{self.system} {self.layout}" if self.layout else self.system


ADDRESS, CLIENT_ID = "address", "client_id"
HASHABLE = (ADDRESS, CLIENT_ID)
"""What may stand in ``hash``."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """Of what is landed only a keyed hash is kept; see :mod:`jobs.pseudonyms`.

    ``key_env`` names the environment variable that holds the key. ``host_names`` are patterns (``*`` fits any part of a
    name) of the names of hosts that are addresses too.
    """

    hash: tuple[str, ...] = ()
    key_env: str = "ELECTION_REPLAY_SECRET_KEY"
    host_names: tuple[str, ...] = ()


NODE_FROM = ("envelope", "folder")
"""Who wrote a line, where its envelope names a node: that node, or that of the file's folder."""

SYSTEMS = tuple(one.name for one in DIALECTS if one.said)
"""The systems whose layouts can be set."""

LISTS: dict[str, type[Any]] = {"sources": SourceRule, "inventory": InventoryEntry, "layouts": LayoutRule}
"""The settings that are lists, and what they are lists of."""

CHECKED = (*LISTS, "privacy", "hash", "host_names")
"""The settings that are neither a text nor a number; each is looked at by itself."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings.

    ``clock_bound_ms`` is how far the clocks of two machines may be apart from true time; ``utc_offset_minutes`` is
    the zone that logs are written in, ``None`` for the zone that the system itself uses; ``time_zone`` says it by its
    IANA name, for a zone whose clocks are changed in spring and autumn. The last of ``sources`` that fits a node and
    says something overrides them. ``layouts`` says how files are written; the last that fits counts. ``inventory``
    names members where their logs do not. ``privacy`` says what is hashed.
    """

    layout: str = "{cluster}/nodes/{node}/logs/**"
    metadata_layout: str = "{cluster}/nodes/{node}/metadata/**"
    clock_bound_ms: int = 500
    utc_offset_minutes: int | None = None
    time_zone: str | None = None
    shuffle_partitions: int = 8
    sources: tuple[SourceRule, ...] = field(default=())
    inventory: tuple[InventoryEntry, ...] = field(default=())
    layouts: tuple[LayoutRule, ...] = field(default=())
    privacy: Privacy = field(default=Privacy())

    def listed(self) -> Inventory:
        """The inventory as the fold reads it."""
        return {(one.cluster, one.node): Listed(one.replica_group, one.member) for one in self.inventory}

    def bound_of(self, cluster: str, node: str) -> int:
        """The clock bound of one node, in milliseconds."""
        found = [rule.clock_bound_ms for rule in self._fitting(cluster, node) if rule.clock_bound_ms is not None]
        return found[-1] if found else self.clock_bound_ms

    def zone_of(self, cluster: str, node: str, default: int) -> int | str:
        """The zone of one node's logs: minutes east of UTC or an IANA name; ``default`` where nothing is set."""
        said = [self.utc_offset_minutes, self.time_zone]
        for rule in self._fitting(cluster, node):
            said += [rule.utc_offset_minutes, rule.time_zone]
        return next((zone for zone in reversed(said) if zone is not None), default)

    def dialect_of(self, cluster: str, node: str, names: Iterable[str]) -> str | None:
        """The dialect of a file by any of its ``names``, with its layout; ``None`` where nothing is set."""
        fitting = (
            one.dialect
            for one in reversed(self.layouts)
            if fnmatchcase(cluster, one.cluster) and fnmatchcase(node, one.node)
            if any(fnmatchcase(name, one.files) for name in names)
        )
        return next(fitting, None)

    def node_from(self, cluster: str, node: str) -> str:
        """Who wrote the lines in a node's folder, of :data:`NODE_FROM`."""
        found = [rule.node_from for rule in self._fitting(cluster, node) if rule.node_from is not None]
        return found[-1] if found else NODE_FROM[0]

    def _fitting(self, cluster: str, node: str) -> list[SourceRule]:
        return [r for r in self.sources if fnmatchcase(cluster, r.cluster) and fnmatchcase(node, r.node)]


def load(path: str | Path | None = None) -> Config:
    """The settings of ``path``, or of ``conf/pipeline.yaml`` where that exists, or the defaults.

    Raises :class:`JobError` naming key and file for what cannot be understood.
    """
    if path is None and not DEFAULT_FILE.is_file():
        return Config()
    file = Path(path or DEFAULT_FILE)
    try:
        found = yaml_with_lines(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"cannot read the settings {file}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise JobError(f"{file} is not valid YAML: {' '.join(str(error).split())}") from error
    values = mapping(found or {}, str(file))
    lists = {name: entries(kind, values.pop(name, None) or [], f"{file}: {name}") for name, kind in LISTS.items()}
    refuse_listed_twice(lists["inventory"], f"{file}: inventory")
    refuse_bad_layouts(lists["layouts"], f"{file}: layouts")
    hidden = privacy(mapping(values.pop("privacy", None) or {}, f"{file}: privacy"), f"{file}: privacy")
    return settings(Config, {**values, **lists, "privacy": hidden}, str(file))


def privacy(values: dict[str, Any], where: str) -> Privacy:
    """``values`` as the settings of privacy. Raises :class:`JobError` for what is no such setting."""
    for name in ("hash", "host_names"):
        found = values.get(name) or []
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise JobError(f"{at(where, key_of(values, name))}: {name} must be a list of texts")
        values[name] = tuple(found)
    for one in values["hash"]:
        if one not in HASHABLE:
            raise JobError(
                f"{at(where, key_of(values, 'hash'))}: {one} cannot be hashed; what can is {', '.join(HASHABLE)}"
            )
    for one in values["host_names"]:
        if not re.fullmatch(r"[\w.*-]*[A-Za-z0-9][\w.*-]*", one, re.ASCII):
            raise JobError(f"{at(where, key_of(values, 'host_names'))}: {one!r} is no pattern such as *.corp.example")
    return settings(Privacy, values, where)


def entries(kind: type[T], found: Any, where: str) -> tuple[T, ...]:
    """``found`` as a list of ``kind``. Raises :class:`JobError` for anything else."""
    if not isinstance(found, list):
        raise JobError(f"{where} must be a list")
    return tuple(settings(kind, mapping(one, where), where) for one in found)


def refuse_listed_twice(inventory: tuple[InventoryEntry, ...], where: str) -> None:
    """Raise :class:`JobError` when two entries speak of one folder."""
    seen: set[tuple[str, str]] = set()
    for one in inventory:
        if (one.cluster, one.node) in seen:
            raise JobError(f"{where}: node {one.node} of cluster {one.cluster} is listed twice")
        seen.add((one.cluster, one.node))


def refuse_bad_layouts(layouts: tuple[LayoutRule, ...], where: str) -> None:
    """Raise :class:`JobError` for a system that nobody knows, or a layout that cannot be read."""
    for one in layouts:
        if one.system not in SYSTEMS:
            raise JobError(f"{where}: there is no system {one.system}; known are {', '.join(SYSTEMS)}")
        try:
            named(one.dialect)
        except ValueError as error:
            raise JobError(f"{where}: the layout {one.layout} cannot be read: {error}") from error


def key_of(values: dict[str, Any], name: str) -> str:
    """The key ``name`` as it stands in the file, with its line."""
    return next((key for key in values if key == name), name)


def mapping(found: Any, where: str) -> dict[str, Any]:
    """``found`` if it is a mapping; else :class:`JobError`."""
    if not isinstance(found, dict):
        raise JobError(f"{where}: expected keys and values")
    return dict(found)


def settings(kind: type[T], values: dict[str, Any], where: str) -> T:
    """``values`` as a ``kind``. Raises :class:`JobError` for an unknown key or a value of the wrong type."""
    kinds = {one.name: str(one.type) for one in fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in kinds:
            raise JobError(f"{at(where, name)}: unknown key {name}; known are {', '.join(sorted(kinds))}")
        wanted = str if kinds[name].find("str") >= 0 else int
        if name not in CHECKED and value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise JobError(f"{at(where, name)}: {name} must be {'a text' if wanted is str else 'a whole number'}")
    given = {name: value for name, value in values.items() if value is not None}
    for one in fields(kind):  # type: ignore[arg-type]
        if one.default is MISSING and one.default_factory is MISSING and one.name not in given:
            raise JobError(f"{where}: {one.name} is missing")
    refuse_too_small(given, where)
    refuse_bad_zone(given, where)
    if given.get("node_from", NODE_FROM[0]) not in NODE_FROM:
        raise JobError(f"{at(where, key_of(given, 'node_from'))}: node_from must be one of {', '.join(NODE_FROM)}")
    return kind(**given)


def refuse_too_small(given: dict[str, Any], where: str) -> None:
    """Raise :class:`JobError` for a number below its :data:`LEAST`."""
    for name in given:
        if name in LEAST and given[name] < LEAST[name]:
            raise JobError(f"{at(where, name)}: {name} must be at least {LEAST[name]}")


def refuse_bad_zone(given: dict[str, Any], where: str) -> None:
    """Raise :class:`JobError` for a zone that nobody knows, or for two."""
    if "time_zone" in given and "utc_offset_minutes" in given:
        raise JobError(f"{where}: give time_zone or utc_offset_minutes, not both")
    if "time_zone" in given and not is_zone(given["time_zone"]):
        raise JobError(f"{where}: time_zone {given['time_zone']} is no zone such as Europe/Berlin")
