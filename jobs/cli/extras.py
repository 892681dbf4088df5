"""Packages that only some commands need, and what is said where they are missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from election_replay.jobs import JobError
from election_replay.jobs.cli.log import log_event


@contextmanager
def needing(extra: str, instead: str = "") -> Iterator[None]:
    """Import what an extra brings. Raises :class:`~jobs.JobError` with one line where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise JobError(f"{error.name} is not installed: {install(extra)}{instead}") from None


def install(extra: str) -> str:
    """What to type to have an extra."""
    return f"pip install 'election-replay[{extra}]'"


def data_docs_wanted(wanted: bool = True) -> bool:
    """Whether data docs can be written, if they are ``wanted``; where not, that is said."""
    if wanted and find_spec("great_expectations") is None:
        log_event(f"No data docs are written, as Great Expectations is not installed: {install('gates')}")
        return False
    return wanted
