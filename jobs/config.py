"""``conf/pipeline.yaml`` as one frozen value. Every setting has a default, so the file may be missing."""

from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import yaml

from jobs import JobError

T = TypeVar("T")

DEFAULT_FILE = Path("conf/pipeline.yaml")
"""Where the settings are looked for when no file is named."""


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What is known of the machines whose cluster and node folders fit the patterns (``*`` fits all)."""

    cluster: str = "*"
    node: str = "*"
    clock_bound_ms: int | None = None
    utc_offset_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """All settings.

    ``clock_bound_ms`` is how far the clocks of two machines may be apart from true time; ``utc_offset_minutes`` is
    the zone that logs are written in, ``None`` for the zone that the system itself uses. The last of ``sources``
    that fits a node and says something overrides them.
    """

    layout: str = "{cluster}/nodes/{node}/logs/**"
    metadata_layout: str = "{cluster}/nodes/{node}/metadata/**"
    clock_bound_ms: int = 500
    utc_offset_minutes: int | None = None
    shuffle_partitions: int = 8
    sources: tuple[SourceRule, ...] = field(default=())

    def bound_of(self, cluster: str, node: str) -> int:
        """The clock bound of one node, in milliseconds."""
        found = [rule.clock_bound_ms for rule in self._fitting(cluster, node) if rule.clock_bound_ms is not None]
        return found[-1] if found else self.clock_bound_ms

    def offset_of(self, cluster: str, node: str, default: int) -> int:
        """The zone of one node's logs, in minutes east of UTC; ``default`` where nothing is set."""
        rules = self._fitting(cluster, node)
        found = [rule.utc_offset_minutes for rule in rules if rule.utc_offset_minutes is not None]
        if found:
            return found[-1]
        return default if self.utc_offset_minutes is None else self.utc_offset_minutes

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
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"cannot read the settings {file}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise JobError(f"{file} is not valid YAML: {' '.join(str(error).split())}") from error
    values = mapping(found or {}, str(file))
    rules = values.pop("sources", None) or []
    if not isinstance(rules, list):
        raise JobError(f"{file}: sources must be a list")
    sources = tuple(settings(SourceRule, mapping(rule, f"{file}: sources"), f"{file}: sources") for rule in rules)
    return settings(Config, {**values, "sources": sources}, str(file))


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
            raise JobError(f"{where}: unknown key {name}; known are {', '.join(sorted(kinds))}")
        wanted = str if kinds[name].find("str") >= 0 else int
        if name != "sources" and value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise JobError(f"{where}: {name} must be {'a text' if wanted is str else 'a whole number'}")
    given = {name: value for name, value in values.items() if value is not None}
    for name in given.keys() & {"clock_bound_ms", "shuffle_partitions"}:
        if given[name] < 0 or (name == "shuffle_partitions" and given[name] == 0):
            raise JobError(f"{where}: {name} must be positive")
    return kind(**given)
