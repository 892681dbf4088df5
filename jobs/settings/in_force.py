"""Chooses the settings in force, and says where they come from.

``--config`` or the environment variable ``ELECTION_REPLAY_CONFIG`` names a file. Without either, a command in a
checkout reads ``conf/pipeline.yaml`` below the working directory, or takes the defaults. On a cluster, in the container
image and under Airflow a file must be named, or ``none`` for the defaults: the working directory there is arbitrary,
and the defaults hash no address.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from election_replay.jobs import WrongCommand
from election_replay.jobs.settings.config import Config, load

DEFAULT_FILE = Path("conf/pipeline.yaml")
"""The file that is read if none is named."""

NAMED_BY = "ELECTION_REPLAY_CONFIG"
"""The environment variable that names the file if ``--config`` does not."""

REQUIRED_BY = "ELECTION_REPLAY_CONFIG_REQUIRED"
"""The environment variable that makes naming a file mandatory; the container image and the DAGs set it."""

NONE = "none"
"""The name that stands for the defaults in place of a file."""


@dataclass(frozen=True, slots=True)
class InForce:
    """The settings of a command and their ``file``; ``None`` for the defaults, with the reason in ``why``."""

    config: Config
    file: Path | None = None
    why: str = ""

    @property
    def version(self) -> str:
        """Return a hash (16 hex digits) of the values of the settings."""
        text = json.dumps(asdict(self.config), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def source(self) -> str:
        """Return the text for ``gold.runs``: the file and :attr:`version`, or ``defaults``."""
        return "defaults" if self.file is None else f"{self.file} {self.version}"

    @property
    def line(self) -> str:
        """Return the text for a person."""
        return f"Settings: defaults ({self.why})" if self.file is None else f"Settings: {self.file}"


def in_force(named: str | None = None, master: str | None = None) -> InForce:
    """Return the settings that ``--config`` or the environment names, for a command on the Spark ``master``.

    Raises :class:`~jobs.JobError` for values that are not allowed, and its subclass :class:`~jobs.WrongCommand` if the
    file cannot be read, or if a file must be named and is not.
    """
    named = named if named is not None else os.environ.get(NAMED_BY) or None
    if named == NONE:
        return InForce(Config(), why=f"as asked for by the name {NONE}")
    if named is not None:
        return from_file(named)
    if reason := why_required(master):
        raise WrongCommand(
            f"no settings are named, and {reason}: give --config FILE or set {NAMED_BY}; "
            f"--config {NONE} means the defaults, which hash no address"
        )
    if DEFAULT_FILE.is_file():
        return from_file(str(DEFAULT_FILE))
    return InForce(Config(), why=f"no file was named and ./{DEFAULT_FILE} does not exist")


def from_file(name: str) -> InForce:
    """Return the settings of a file. Raises :class:`~jobs.JobError` if it cannot be read or has values not allowed."""
    if not name:
        raise WrongCommand("the name of the settings file is empty")
    return InForce(load(name), Path(name).absolute())


def why_required(master: str | None) -> str | None:
    """Return the reason why a file must be named; ``None`` if it need not."""
    if place := os.environ.get(REQUIRED_BY):
        return f"{REQUIRED_BY} is set ({place})"
    if master is not None and not master.startswith("local"):
        return f"Spark's master is {master}"
    return None
