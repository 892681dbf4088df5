"""Which settings are in force, and where they come from.

A file is named by ``--config`` or by the environment variable ``ELECTION_REPLAY_CONFIG``. A person who types a command
in a checkout may go without: then ``conf/pipeline.yaml`` below the working directory counts, or the defaults. On a
cluster, in the container image and under Airflow a file must be named, or ``none`` for the defaults: the working
directory there is nobody's choice, and the defaults hash no address.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from election_replay.jobs import WrongCommand
from election_replay.jobs.settings.config import Config, load

DEFAULT_FILE = Path("conf/pipeline.yaml")
"""Where the settings are looked for when no file is named."""

NAMED_BY = "ELECTION_REPLAY_CONFIG"
"""The environment variable that names the file where ``--config`` does not."""

REQUIRED_BY = "ELECTION_REPLAY_CONFIG_REQUIRED"
"""The environment variable that forbids to go without: the container image and the DAGs set it and say who they are."""

NONE = "none"
"""In place of a file: the defaults, on purpose."""


@dataclass(frozen=True, slots=True)
class InForce:
    """The settings of a command. ``file`` is where they stand; ``None`` for the defaults, and ``why`` says why."""

    config: Config
    file: Path | None = None
    why: str = ""

    @property
    def version(self) -> str:
        """A name for what the settings say, however they are written."""
        text = json.dumps(asdict(self.config), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def source(self) -> str:
        """What ``gold.runs`` keeps of them: the file and :attr:`version`, or ``defaults``."""
        return "defaults" if self.file is None else f"{self.file} {self.version}"

    @property
    def line(self) -> str:
        """The same for a person."""
        return f"Settings: defaults ({self.why})" if self.file is None else f"Settings: {self.file}"


def in_force(named: str | None = None, master: str | None = None) -> InForce:
    """The settings that ``--config`` and the environment name, of a command that runs on the Spark ``master``.

    Raises :class:`~jobs.JobError` for a file that says what is not allowed, and of these :class:`~jobs.WrongCommand`
    for one that cannot be read and where one must be named.
    """
    named = named if named is not None else os.environ.get(NAMED_BY) or None
    if named == NONE:
        return InForce(Config(), why=f"as asked for by the name {NONE}")
    if named is not None:
        return of_file(named)
    if reason := required(master):
        raise WrongCommand(
            f"no settings are named, and {reason}: give --config FILE or set {NAMED_BY}; "
            f"--config {NONE} means the defaults, which hash no address"
        )
    if DEFAULT_FILE.is_file():
        return of_file(str(DEFAULT_FILE))
    return InForce(Config(), why=f"no file was named and ./{DEFAULT_FILE} does not exist")


def of_file(name: str) -> InForce:
    """The settings of a file. Raises :class:`~jobs.JobError` when it cannot be read or says what is not allowed."""
    if not name:
        raise WrongCommand("the name of the settings file is empty")
    return InForce(load(name), Path(name).absolute())


def required(master: str | None) -> str | None:
    """Why a file must be named, if it must."""
    if place := os.environ.get(REQUIRED_BY):
        return f"{REQUIRED_BY} is set ({place})"
    if master is not None and not master.startswith("local"):
        return f"Spark's master is {master}"
    return None
