"""Turns errors of the machine and of libraries into one line for the user that says what to do."""

import re
from collections.abc import Iterator
from itertools import takewhile

from election_replay.jobs import JobError

AGAIN = "and run the same command again: nothing is lost, and nothing comes twice"
SIGNS = (
    (
        re.compile(r"No space left on device|os error 28\b|Disk quota exceeded|os error 122\b", re.IGNORECASE),
        f"the disk is full: make room for the warehouse and for temporary files (TMPDIR), {AGAIN}",
    ),
    (
        re.compile(r"Read-only file system|os error 30\b", re.IGNORECASE),
        "the file system is read-only: give a warehouse that can be written, or mount it so",
    ),
    (
        re.compile(r"Permission denied|os error 13\b|AccessDenied", re.IGNORECASE),
        "permission is denied: let the one who runs this read the landing zone and write the warehouse",
    ),
    (
        re.compile(r"NETWORK_CONNECTION|Connection refused|error sending request|No route to host"),
        f"a store does not answer: look at its address, its certificate (SSL_CERT_FILE) and the network, {AGAIN}",
    ),
    (
        re.compile(r"MemoryError|Out of Memory Error|Cannot allocate memory|os error 12\b|failed to map segment"),
        f"there is not enough memory: give the processes more (ulimit -v, the container's limit), {AGAIN}",
    ),
    (
        re.compile(r"cannot encode str as UTF-8|surrogates not allowed"),
        "what is asked for is no UTF-8 text: give it in UTF-8",
    ),
    (
        re.compile(r"java\.lang\.OutOfMemoryError"),
        f"Spark has not enough memory: give it more (spark.driver.memory, spark.executor.memory), {AGAIN}",
    ),
)
"""(pattern of an error's text, message for the user); the first match counts."""

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
WRAPPED = re.compile(r"\s*\n\s*↳\s*")
"""The line break that Delta's reader and writer put after each colon of an error."""

CAUSED_BY = "Caused by: "
TRACEBACK = "Traceback (most recent call last):"
JAVA_FRAME = "at "
LONGEST = 300
"""Characters of a library's error that are shown."""


def user_message(error: BaseException) -> str | None:
    """Return the message of :data:`SIGNS` for an error or one of its causes, with the line that matches; else None."""
    lines = [line for cause in causes_of(error) for line in lines_of(cause)]
    for sign, sentence in SIGNS:
        for line in lines:
            if sign.search(line):
                return f"{sentence} ({line[:LONGEST]})"
    return None


def readable(error: BaseException) -> str:
    """Return the most useful line of an error: Java's last cause, the end of a stack trace, or the first line.

    If Python failed in a Spark worker, Python's stack trace stands between those of Java.
    """
    lines = lines_of(error)
    causes = [line.removeprefix(CAUSED_BY) for line in lines if line.startswith(CAUSED_BY)]
    if causes and not causes[-1].endswith(TRACEBACK):
        return causes[-1][:LONGEST]
    traced = [number for number, line in enumerate(lines) if line.endswith(TRACEBACK)]
    if not traced:
        return lines[0]
    behind = takewhile(lambda line: not line.startswith(JAVA_FRAME), lines[traced[-1] + 1 :])
    return ([*behind] or lines)[-1][:LONGEST]


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, as Python would print them, newest first."""
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def lines_of(error: BaseException) -> list[str]:
    """Return the lines of an error's text without colours, wraps and empty lines; its type's name if it has none."""
    found = [line.strip() for line in WRAPPED.sub(": ", COLOURS.sub("", str(error))).splitlines()]
    return [line for line in found if line] or [type(error).__name__]


class Damaged(JobError):
    """A table of the warehouse that cannot be read."""

    def __init__(self, table: str, location: str, error: BaseException) -> None:
        super().__init__(
            f"the table {table} at {location} is damaged: {lines_of(error)[-1][:LONGEST]}. Restore this folder from a "
            "backup, or land the same logs into a new warehouse"
        )
