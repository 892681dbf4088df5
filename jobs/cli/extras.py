"""Optional packages that only some commands need, and the messages if they are missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from election_replay.jobs import JobError
from election_replay.jobs.cli.log import log_event


@contextmanager
def requiring_extra(extra: str, instead: str = "") -> Iterator[None]:
    """Turn a failed import in this context into a one-line :class:`~jobs.JobError` that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise JobError(f"{error.name} is not installed: {install(extra)}{instead}") from None


def install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'election-replay[{extra}]'"


def data_docs_wanted(wanted: bool = True) -> bool:
    """Return True if data docs are ``wanted`` and can be written; log a line if they cannot."""
    if wanted and find_spec("great_expectations") is None:
        log_event(f"No data docs are written, as Great Expectations is not installed: {install('gates')}")
        return False
    return wanted
