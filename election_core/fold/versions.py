"""Known releases of each system: those whose sources were read for their log texts (``docs/releases.md``). A line of
another release is read as far as its wording is the same; the finding ``UNKNOWN_VERSION`` then says that some lines may
not have been understood. Few lines name the release that wrote them: :data:`RELEASE_CLAIMS` lists them."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from election_replay.election_core.fold.declared import SYSTEMS, Deed, systems_by_kind
from election_replay.election_core.model.fold_event import FoldEvent

Release = tuple[int, int]
"""Major and minor number."""

KNOWN: Mapping[str, tuple[Release, Release]] = {system.title: system.releases for system in SYSTEMS}
"""The first and the last known release of each system; all between them are known too."""

_RELEASE = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,6})?")
_HOME = re.compile(r"rocketmq[^/\d]*(\d{1,4}\.\d{1,4}\.\d{1,6})")
_FIRST_ORDINAL = 312
_MINORS = (*((4, minor) for minor in range(5, 10)), *((5, minor) for minor in range(10)))
_ORDINALS_OF_MINOR = 20


class ReleaseClaim(NamedTuple):
    """The release that a line names."""

    system: str
    release: str

    @property
    def known(self) -> bool:
        """Return True when the texts and rules of that release are known."""
        first, last = KNOWN[self.system]
        found = _RELEASE.match(self.release)
        return found is not None and first <= (int(found.group(1)), int(found.group(2))) <= last


def range_of(system: str) -> str:
    """Return the known releases of a system for a sentence: ``4.5 to 5.5``."""
    return " to ".join(f"{major}.{minor}" for major, minor in KNOWN[system])


def release_claim(event: FoldEvent) -> ReleaseClaim | None:
    """Return the release that a line names as its own process's; ``None`` where it names none."""
    if event.kind not in RELEASE_CLAIMS or not event.value:
        return None
    system, read = RELEASE_CLAIMS[event.kind]
    release = read(event)
    return None if release is None else ReleaseClaim(system, release)


def _printed(event: FoldEvent) -> str | None:
    found = _RELEASE.match(event.value or "")
    return found.group() if found else None


def _home(event: FoldEvent) -> str | None:
    """Return the release in the name of RocketMQ's home folder, as distributions and container images name it."""
    found = _HOME.search(event.value or "") if event.setting == "rocketmqHome" else None
    return found.group(1) if found else None


def _ordinal(event: FoldEvent) -> str | None:
    """Return the release behind the number in remoting commands (``MQVersion``); ``None`` for 0, which controllers
    send. From 4.5.0 on each minor release has ten pairs of a snapshot and a release."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", event.value or ""):
        return None
    minor, place = divmod(int(event.value or 0) - _FIRST_ORDINAL, _ORDINALS_OF_MINOR)
    if not 0 <= minor < len(_MINORS):
        return "before 4.5" if minor < 0 else "6.0 or later"
    return ".".join(map(str, (*_MINORS[minor], place // 2)))


RELEASE_CLAIMS: Mapping[str, tuple[str, Callable[[FoldEvent], str | None]]] = {
    "CFG_ITEM": ("RocketMQ", _home),
    "NET_ANSWER_LOST": ("RocketMQ", _ordinal),
    **{kind: (system.title, _printed) for kind, system in systems_by_kind(Deed.TELLS_RELEASE).items()},
}
"""The kinds of lines that name a release, and how to read it."""
