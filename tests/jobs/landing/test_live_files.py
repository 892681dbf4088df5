"""A node goes on writing while its files are read: lines are appended in halves, files roll and are truncated."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.jobs.landing.blocks import FirstBytes
from tests.jobs.zone import Zone, leads, noise

TERMS = range(1, 241)
TERMS_OF_A_NIGHT = 20
"""At most so many are written while one landing runs, and as many when the next one begins."""

LAST_NIGHTS = 4
"""After these nothing is left to land: the last line without an end waits for one."""


class Writer(threading.Thread):
    """Writes a line of interest a term and some of no interest; rolls its file by a new name, or by a copy.

    It waits for no landing to end, but on a slow machine for the next one to begin now and then.
    """

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log, self.rolled, self.nights = log, 0, 0

    def run(self) -> None:
        for term in TERMS:
            while self.nights < term // TERMS_OF_A_NIGHT:
                time.sleep(0.001)
            text = (leads(2 * term, term) + "".join(noise(2 * term + 1) for _ in range(200))).encode()
            with self.log.open("ab", buffering=0) as file:
                half = (7 * term) % len(text)
                file.write(text[:half])
                time.sleep(0.002)
                file.write(text[half:])
            if term % 17 == 0:
                self._rolls(by_copy=term % 34 == 0)

    def _rolls(self, *, by_copy: bool) -> None:
        self.rolled += 1
        aside = self.log.with_name(f"broker_default.{self.rolled}.log")
        if by_copy:  # as logrotate's copytruncate
            shutil.copyfile(self.log, aside)
            with self.log.open("r+b") as file:
                file.truncate()
        else:
            self.log.rename(aside)


def test_a_writer_that_waits_for_nobody_loses_no_line(
    zone: Zone, record_property: Callable[[str, object], None]
) -> None:
    zone.write("broker.log", noise(1))  # a zone is never without a file, also while the other one is renamed
    writer = Writer(zone.logs / "broker_default.log")
    writer.start()
    while writer.is_alive():
        writer.nights += 1
        zone.land()
    writer.join()
    record_property("landings while files were written", writer.nights)
    for _ in range(LAST_NIGHTS):
        zone.land()
    assert sorted(row["term"] for row in zone.tables["events"] if row["term"]) == [*TERMS]
    assert not zone.tables["quarantine"]


def test_a_file_that_rolls_while_it_is_looked_at_is_read_once(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was listed whole, and stood empty when its beginning was read; the lines that came then are the next one's."""
    log = zone.write("broker_default.log", "".join(leads(second, second) for second in range(1, 2000)))
    with monkeypatch.context() as patch:
        patch.setattr("election_replay.jobs.landing.plan.head", lambda *_: FirstBytes(b""))
        zone.land()
    zone.append("broker_default.log", leads(2000, 2000))
    log.rename(log.with_name("broker_default.1.log"))
    zone.land()
    assert [row["term"] for row in zone.tables["events"] if row["term"]] == [*range(1, 2001)]
