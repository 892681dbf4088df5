"""The settings of the pipeline as one frozen value; each has a type with its allowed values, and a default.

:mod:`jobs.settings.in_force` chooses the file that they are read from.
"""

import re
from collections.abc import Iterable
from dataclasses import field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, ConfigDict, Field, GetCoreSchemaHandler, Strict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import ErrorDetails, core_schema
from yaml import YAMLError

from election_replay.election_core.model.inventory import Inventory, InventoryRow
from election_replay.election_core.model.timing import SETTABLE, TimingRule
from election_replay.jobs import JobError, WrongCommand
from election_replay.jobs.runbook.steps import SYSTEMS as OF_PROTOCOLS
from election_replay.jobs.settings.raw_lines import PRESETS
from election_replay.jobs.settings.yaml_lines import LARGEST, Lines, yaml_with_lines


def is_zone(name: str) -> bool:
    """Return True if ``name`` is in the IANA database of time zones."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


ADDRESS, CLIENT_ID = "address", "client_id"
"""The kinds of values that can be hashed."""

DAY_MS = 24 * 60 * 60 * 1000
FARTHEST_ZONE = 14 * 60
"""The largest offset from UTC on earth, in minutes."""

NODE_FROM = ("envelope", "folder")
"""Which node wrote a line whose envelope names a node: that one, or the node of the file's folder."""

SYSTEMS = tuple(dict.fromkeys(OF_PROTOCOLS.values()))
"""The systems whose layouts can be set."""

MOST_PARTITIONS = 100_000
MOST_GIGABYTES = 1_000_000
LONGEST_NAME = 255
LONGEST_LAYOUT = 1_000
MOST_STARS = 3
"""The maximum number of ``*`` in a host name pattern: each makes matching slower."""


class Must:
    """An annotation that gives all failed checks of a value one message, ``be``: what the value must be."""

    def __init__(self, be: str) -> None:
        self.be = be

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the type's schema with one error for all its checks."""
        return core_schema.custom_error_schema(handler(source), custom_error_type="must", custom_error_message=self.be)


def checked_layout(layout: str) -> str:
    """Return the layout. Raises :class:`ValueError` unless it names ``{cluster}`` and ``{node}`` once, then ``**``."""
    *folders, last = layout.split("/")
    rest = "".join(folders).replace("{cluster}", "", 1).replace("{node}", "", 1)
    if (
        last != "**"
        or len("".join(folders)) - len(rest) != len("{cluster}{node}")
        or re.search(r"[{}*\\\x00-\x1f]", rest)
    ):
        raise ValueError
    if any(folder in {"", ".", ".."} for folder in folders):
        raise ValueError
    return layout


def zone(name: str) -> str:
    """Return the name. Raises :class:`ValueError` if it is not that of a time zone."""
    if not is_zone(name):
        raise ValueError
    return name


def host_pattern(name: str) -> str:
    """Return the pattern. Raises :class:`ValueError` if no host name can match it, or if every name does."""
    if not re.fullmatch(r"[\w.*-]*[A-Za-z0-9][\w.*-]*", name, re.ASCII) or name.count("*") > MOST_STARS:
        raise ValueError
    return name


def known_timeouts(timeouts: dict[str, int]) -> dict[str, int]:
    """Return the times. Raises :class:`ValueError` if there are none, or if clusters cannot change one of them."""
    if not timeouts or any(name not in SETTABLE for name in timeouts):
        raise ValueError
    return timeouts


def each_once(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values. Raises :class:`ValueError` if one is repeated."""
    if len(set(values)) < len(values):
        raise ValueError
    return values


def system(name: str) -> str:
    """Return the name. Raises :class:`ValueError` if it is not that of a system whose layouts can be set."""
    if name not in SYSTEMS:
        raise ValueError
    return name


Layout = Annotated[
    str,
    Strict(),
    Field(max_length=LONGEST_LAYOUT),
    AfterValidator(checked_layout),
    Must("a path of folders such as {cluster}/nodes/{node}/logs/**: each of the two names once, /** at its end"),
]
Name = Annotated[
    str,
    Strict(),
    Field(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00-\x1f/]+$"),
    Must(f"a text of 1 to {LONGEST_NAME} characters, without /"),
]
ClockBound = Annotated[int, Strict(), Field(ge=0, le=DAY_MS), Must(f"a whole number from 0 to {DAY_MS}, milliseconds")]
Offset = Annotated[
    int,
    Strict(),
    Field(ge=-FARTHEST_ZONE, le=FARTHEST_ZONE),
    Must(f"a whole number from -{FARTHEST_ZONE} to {FARTHEST_ZONE}, minutes"),
]
Zone = Annotated[
    str,
    Strict(),
    Field(max_length=LONGEST_NAME),
    AfterValidator(zone),
    Must("the IANA name of a zone, such as Europe/Berlin"),
]
Partitions = Annotated[
    int, Strict(), Field(ge=1, le=MOST_PARTITIONS), Must(f"a whole number from 1 to {MOST_PARTITIONS}")
]
Gigabytes = Annotated[
    int, Strict(), Field(ge=1, le=MOST_GIGABYTES), Must(f"a whole number from 1 to {MOST_GIGABYTES}, gigabytes")
]
Hashed = Annotated[
    tuple[Annotated[str, Field(pattern=f"^(?:{ADDRESS}|{CLIENT_ID})$")], ...],
    AfterValidator(each_once),
    Must(f"a list of {ADDRESS} and {CLIENT_ID}, or of one of them, or of none"),
]
HostNames = Annotated[
    tuple[Annotated[str, Strict(), Field(max_length=LONGEST_NAME), AfterValidator(host_pattern)], ...],
    Must(f"a list of patterns such as *.corp.example, with at most {MOST_STARS} * in each"),
]
NodeFrom = Annotated[
    str, Strict(), Field(pattern=f"^(?:{'|'.join(NODE_FROM)})$"), Must(f"one of {', '.join(NODE_FROM)}")
]
System = Annotated[str, Strict(), AfterValidator(system), Must(f"one of {', '.join(SYSTEMS)}")]
Pattern = Annotated[
    str,
    Strict(),
    Field(min_length=1, max_length=LONGEST_LAYOUT),
    Must(f"the pattern string of a logger, or the keys of a line of JSON, of 1 to {LONGEST_LAYOUT} characters"),
]
Timeouts = Annotated[
    dict[str, Annotated[int, Strict(), Field(ge=1, le=DAY_MS)]],
    AfterValidator(known_timeouts),
    Must(
        f"times by their names, such as {{controller_poll: 30000}}: names of docs/timing.md that a cluster can change, "
        f"each with a whole number from 1 to {DAY_MS}, milliseconds"
    ),
]
Expression = Annotated[
    str,
    Strict(),
    Field(min_length=1, max_length=LONGEST_LAYOUT, pattern=r"^[^\x00-\x1f]+$"),
    Must(f"a text of 1 to {LONGEST_LAYOUT} characters"),
]
Preset = Annotated[str, Strict(), Field(pattern=f"^(?:{'|'.join(PRESETS)})$"), Must(f"one of {', '.join(PRESETS)}")]
Variable = Annotated[
    str,
    Strict(),
    Field(max_length=LONGEST_NAME, pattern="^[A-Za-z_][A-Za-z0-9_]*$"),
    Must("the name of an environment variable"),
]

CHECKED = ConfigDict(extra="forbid")
"""Configuration of the dataclasses here: unknown keys are errors."""


def refuse_two_zones(settings: "SourceRule | Config") -> None:
    """Raise :class:`ValueError` if both ``time_zone`` and ``utc_offset_minutes`` are set."""
    if settings.time_zone is not None and settings.utc_offset_minutes is not None:
        raise ValueError("give time_zone or utc_offset_minutes, not both")


@dataclass(frozen=True, slots=True, config=CHECKED)
class SourceRule:
    """Settings of the nodes whose cluster and node folders match the patterns (``*`` matches all)."""

    cluster: Name = "*"
    node: Name = "*"
    clock_bound_ms: ClockBound | None = None
    utc_offset_minutes: Offset | None = None
    time_zone: Zone | None = None
    node_from: NodeFrom | None = None

    def __post_init__(self) -> None:
        refuse_two_zones(self)


@dataclass(frozen=True, slots=True, config=CHECKED)
class LayoutRule:
    """The system and the layout of files whose names match ``files``.

    ``layout`` is the pattern string of log4j or logback, or the keys of a line of JSON, such as
    ``json time=T message=M``; ``None``: it is inferred from the lines.
    """

    files: Name
    system: System
    layout: Pattern | None = None
    cluster: Name = "*"
    node: Name = "*"

    def __post_init__(self) -> None:
        from election_replay.election_core.dialects import named  # slow to import: a table of a thousand texts

        try:
            named(self.dialect)
        except ValueError as error:
            raise ValueError(f"the layout {self.layout} cannot be read: {error}") from None

    @property
    def dialect(self) -> str:
        """Return the name of the dialect, with its layout."""
        return f"{self.system} {self.layout}" if self.layout else self.system


@dataclass(frozen=True, slots=True, config=CHECKED)
class DescribedText:
    """A log text of a program and what it ``does``; ``fields`` and ``where`` are for lines with keys.

    :mod:`election_core.dialects.described.table` defines the allowed values.
    """

    text: Pattern
    does: Name
    fields: dict[Name, Name] = field(default_factory=dict)
    where: dict[Name, Name] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=CHECKED)
class Program:
    """A program without a dialect of ours: the files that it writes, their layout, and its log texts.

    Its ``name`` is also that of its replica group if no line and no inventory names one.
    """

    name: Name
    files: Name
    layout: Pattern
    texts: tuple[DescribedText, ...]
    cluster: Name = "*"
    node: Name = "*"

    def __post_init__(self) -> None:
        try:
            self.dialect  # noqa: B018 - parses the texts, so that a mistake is reported here
        except ValueError as error:
            raise ValueError(f"{self.name} cannot be read: {error}") from None

    @property
    def dialect(self) -> str:
        """Return the name of the dialect, which contains the table of texts."""
        from election_replay.election_core.dialects.described.dialect import named  # see LayoutRule

        texts = ({"text": t.text, "does": t.does, "fields": t.fields, "where": t.where} for t in self.texts)
        return named(self.name, self.layout, [{key: value for key, value in text.items() if value} for text in texts])


@dataclass(frozen=True, slots=True, config=CHECKED)
class InventoryEntry:
    """The member that wrote the logs of one node folder, for logs that do not name it themselves.

    ``member`` is its name in ``replica_group``: a broker id, a DLedger ``selfId``, a ``myid``.
    """

    cluster: Name
    node: Name
    replica_group: Name
    member: Name | None = None


@dataclass(frozen=True, slots=True, config=CHECKED)
class TimingEntry:
    """Timeouts, in ms, of the groups that match the patterns (``*`` matches all), for logs that do not print them."""

    cluster: Name = "*"
    replica_group: Name = "*"
    timeouts: Timeouts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.timeouts:
            raise ValueError("timeouts is missing")

    def rule(self) -> TimingRule:
        """Convert to the core's type."""
        timeouts = tuple(
            sorted(((SETTABLE[name], ms) for name, ms in self.timeouts.items()), key=lambda entry: entry[0].name)
        )
        return TimingRule(self.cluster, self.replica_group, timeouts)


@dataclass(frozen=True, slots=True, config=CHECKED)
class RawTable:
    """A Delta table of raw lines: ``name`` is for ``--from-table``, ``path`` its location.

    The other fields are SQL expressions over its columns, with those of ``preset`` as defaults. A log is a ``file`` of
    a ``node`` of a ``cluster``; its lines are ordered by ``position``, a whole number, or by ``time`` without one.
    """

    name: Name
    path: Expression | None = None
    preset: Preset | None = None
    message: Expression | None = None
    cluster: Expression | None = None
    node: Expression | None = None
    file: Expression | None = None
    position: Expression | None = None
    time: Expression | None = None

    def __post_init__(self) -> None:
        if self.expression("message") is None or self.expression("node") is None:
            raise ValueError("message and node are to be said, or a preset")

    def expression(self, part: str) -> str | None:
        """Return the SQL expression of a part of a raw line; ``None`` if there is none."""
        given: str | None = getattr(self, part)
        return given or (PRESETS[self.preset].get(part) if self.preset else None)


@dataclass(frozen=True, slots=True, config=CHECKED)
class Privacy:
    """The kinds of values of which only a keyed hash is landed; see :mod:`jobs.landing.pseudonyms`.

    ``key_env`` names the environment variable with the key. ``host_names`` are patterns (``*`` matches any part) of
    host names to treat as addresses.
    """

    hash: Hashed = ()
    key_env: Variable = "ELECTION_REPLAY_SECRET_KEY"
    host_names: HostNames = ()


@dataclass(frozen=True, slots=True, config=CHECKED)
class Config:
    """All settings.

    ``clock_bound_ms`` is how far a machine's clock may be off true time. ``utc_offset_minutes`` is the zone of log
    times, ``None`` for the default of the system that wrote them; ``time_zone`` gives it by IANA name, for a zone with
    summer time. The last of ``sources`` that matches a node and sets a value overrides these. ``layouts`` and
    ``programs`` describe files; the last match counts, in ``layouts`` first. ``inventory`` names members whose logs do
    not, ``timing`` holds timeouts of groups, ``tables`` are Delta tables of raw lines, ``privacy`` says what is hashed.
    ``shuffle_partitions``: ``None`` depends on the master, see :func:`jobs.engines.spark_session.spark_session`.
    ``commit_every_gb``: a larger landing is committed in parts of this size.
    """

    layout: Layout = "{cluster}/nodes/{node}/logs/**"
    metadata_layout: Layout = "{cluster}/nodes/{node}/metadata/**"
    clock_bound_ms: ClockBound = 500
    utc_offset_minutes: Offset | None = None
    time_zone: Zone | None = None
    shuffle_partitions: Partitions | None = None
    commit_every_gb: Gigabytes = 16
    sources: tuple[SourceRule, ...] = ()
    inventory: tuple[InventoryEntry, ...] = ()
    layouts: tuple[LayoutRule, ...] = ()
    programs: tuple[Program, ...] = ()
    timing: tuple[TimingEntry, ...] = ()
    tables: tuple[RawTable, ...] = ()
    privacy: Privacy = field(default_factory=Privacy)

    def __post_init__(self) -> None:
        refuse_two_zones(self)
        if self.layout == self.metadata_layout:
            raise ValueError("layout and metadata_layout are the same: every file would be read as a log")

    def inventoried(self) -> Inventory:
        """Return the inventory and timings for the fold, which uses them where logs do not say."""
        listed = {
            (source.cluster, source.node): InventoryRow(source.replica_group, source.member)
            for source in self.inventory
        }
        return Inventory(listed, tuple(entry.rule() for entry in self.timing))

    def bound_of(self, cluster: str, node: str) -> int:
        """Return the clock bound of a node in ms."""
        found = [rule.clock_bound_ms for rule in self._matching_rules(cluster, node) if rule.clock_bound_ms is not None]
        return found[-1] if found else self.clock_bound_ms

    def zone_of(self, cluster: str, node: str, default: int) -> int | str:
        """Return the zone of a node's logs: minutes east of UTC, or an IANA name; ``default`` if none is set."""
        zones = [self.utc_offset_minutes, self.time_zone]
        for rule in self._matching_rules(cluster, node):
            zones += [rule.utc_offset_minutes, rule.time_zone]
        return next((zone for zone in reversed(zones) if zone is not None), default)

    def dialect_of(self, cluster: str, node: str, names: Iterable[str]) -> str | None:
        """Return the dialect, with its layout, set for a file by any of its ``names``; ``None`` if none is set."""
        rules: tuple[Program | LayoutRule, ...] = (*self.programs, *self.layouts)
        fitting = (
            rule.dialect
            for rule in reversed(rules)
            if fnmatchcase(cluster, rule.cluster) and fnmatchcase(node, rule.node)
            if any(fnmatchcase(name, rule.files) for name in names)
        )
        return next(fitting, None)

    def node_from(self, cluster: str, node: str) -> str:
        """Return which node wrote the lines in a node's folder, as one of :data:`NODE_FROM`."""
        found = [rule.node_from for rule in self._matching_rules(cluster, node) if rule.node_from is not None]
        return found[-1] if found else NODE_FROM[0]

    def _matching_rules(self, cluster: str, node: str) -> list[SourceRule]:
        return [r for r in self.sources if fnmatchcase(cluster, r.cluster) and fnmatchcase(node, r.node)]


SECTIONS: dict[str, type[SourceRule | InventoryEntry | LayoutRule | Program | TimingEntry | RawTable | Privacy]] = {
    "sources": SourceRule,
    "inventory": InventoryEntry,
    "layouts": LayoutRule,
    "programs": Program,
    "timing": TimingEntry,
    "tables": RawTable,
    "privacy": Privacy,
}
"""The settings that contain keys of their own."""

CHECKER = TypeAdapter(Config)


def load(path: str | Path) -> Config:
    """Return the settings in the file ``path``.

    Raises :class:`JobError` with file, line and key for a value that is not allowed, and its subclass
    :class:`WrongCommand` if the file cannot be read.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise WrongCommand(f"cannot read the settings {file}: {getattr(error, 'strerror', error)}") from error
    if len(data) > LARGEST:
        raise JobError(f"{file} has more than {LARGEST:,} bytes: that is no file of settings")
    try:
        lines = yaml_with_lines(data.decode())
    except YAMLError as error:
        raise JobError(f"{file}{yaml_mistake(error)}") from error
    except UnicodeDecodeError as error:
        raise JobError(f"{file} is not valid YAML: {error}") from error
    try:
        config = CHECKER.validate_python(without_nulls({} if lines.value is None else lines.value))
    except ValidationError as error:
        first, *more = error.errors(include_url=False, include_input=False)
        rest = f" (and {len(more):,} more)" if more else ""
        raise JobError(mistake(first, lines, file) + rest) from None
    refuse_listed_twice(config.inventory, lines, file)
    return config


def without_nulls(found: Any) -> Any:
    """Return the content of a file without empty keys, so that these get their defaults."""
    if isinstance(found, dict):
        return {key: without_nulls(value) for key, value in found.items() if value is not None}
    return [without_nulls(item) for item in found] if isinstance(found, list) else found


def yaml_mistake(error: YAMLError) -> str:
    """Return the message about invalid YAML, to follow the file's name."""
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    if problem is None or mark is None:
        return f" is not valid YAML: {' '.join(str(error).split())}"
    return f", line {mark.line + 1}: not valid YAML: {problem}"


def mistake(error: ErrorDetails, lines: Lines, file: Path) -> str:
    """Return the message about one mistake: file, section, line, key, and the allowed values."""
    kind, place = error["type"], error["loc"]
    section = place[0] if len(place) > 1 and place[0] in SECTIONS else None
    where = f"{file}: {section}" if section else str(file)
    if (line := lines.of(place)) is not None:
        where += f", line {line}"
    key = next((part for part in reversed(place) if isinstance(part, str)), None)
    if kind in {"unexpected_keyword_argument", "invalid_key"}:
        known = fields(Config if section is None else SECTIONS[section])
        return f"{where}: unknown key {place[-1]}; known are {', '.join(sorted(option.name for option in known))}"
    words = {
        "must": f"{key} must be {error['msg']}",
        "missing": f"{key} is missing",
        "tuple_type": f"{key} must be a list",
        "value_error": error["msg"].removeprefix("Value error, "),
    }
    return f"{where}: {words.get(kind) or (f'{key}: ' if key and not section else '') + 'expected keys and values'}"


def refuse_listed_twice(inventory: tuple[InventoryEntry, ...], lines: Lines, file: Path) -> None:
    """Raise :class:`JobError` if two entries name the same node folder."""
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(inventory):
        if (entry.cluster, entry.node) in seen:
            where = f"{file}: inventory, line {lines.of(('inventory', number))}"
            raise JobError(f"{where}: node {entry.node} of cluster {entry.cluster} is listed twice")
        seen.add((entry.cluster, entry.node))
