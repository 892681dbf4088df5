"""Lines that are delivered again, or written twice, are read once; a clock that is put back in an idle log is seen."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from election_replay.schemas.events import MEANING
from tests.jobs.zone import Zone, leads, line

LOGS = (
    ("rocketmq-dledger/kill-leader-533/nodes/n0/logs/rocketmqlogs/broker_default.log", "broker_default.log"),
    ("rocketmq-controller/healthy/nodes/ctl-1/logs/rocketmqlogs/controller_default.log", "controller_default.log"),
    ("etcd/kill-leader-35/nodes/etcd1/logs/etcd.log", "etcd.log"),
    ("zookeeper/kill-leader-384/nodes/zk1/logs/zookeeper-zookeeper-server-zk1.out", "zookeeper.log"),
)
BATCH = 40


def in_batches(lines: list[str]) -> list[str]:
    """Every third batch comes again, as from a shipper whose answers get lost."""
    batches = [lines[at : at + BATCH] for at in range(0, len(lines), BATCH)]
    return [line for number, batch in enumerate(batches) for line in batch * (2 if number % 3 == 1 else 1)]


def each_twice(lines: list[str]) -> list[str]:
    """Two appenders of one logger write into one file; what goes on with a record comes with it."""
    found, record = [], list[str]()
    for one in [*lines, ""]:
        if record and one[:1] in {"2", "{", ""}:
            found += [*record, *record]
            record = []
        record.append(one)
    return found


def said(zone: Zone) -> list[str]:
    """What the events of a zone say, wherever they stand; not the signs of life, and not the same twice in a second."""
    names = [column.name for column in MEANING]
    told = (str([row[name] for name in names]) for row in zone.tables["events"] if row["kind"] != "TICK")
    return list(dict.fromkeys(told))


def steps_back(zone: Zone) -> int:
    """How often an event lies a second or more behind the one before."""
    times = [row["event_time"] for row in sorted(zone.tables["events"], key=lambda row: row["line_no"])]
    return sum(before - after >= timedelta(seconds=1) for before, after in itertools.pairwise(times))


@pytest.mark.parametrize("again", [in_batches, each_twice])
@pytest.mark.parametrize(("path", "name"), LOGS, ids=[name for _, name in LOGS])
def test_what_comes_again_is_read_once(
    corpora: Path, tmp_path: Path, path: str, name: str, again: Callable[[list[str]], list[str]]
) -> None:
    lines = (corpora / path).read_text().splitlines(keepends=True)
    plain, repeated = Zone(tmp_path / "plain"), Zone(tmp_path / "repeated")
    plain.write(name, "".join(lines))
    repeated.write(name, "".join(again(lines)))
    plain.land()
    [told] = repeated.land()["landed_files"]
    assert said(repeated) == said(plain) != []
    assert steps_back(repeated) == steps_back(plain)
    assert 0 < told["lines_repeated"] <= len(again(lines)) - len(lines)
    assert told["lines_total"] == told["lines_event"] + told["lines_ignored"] + told["lines_quarantined"]
    assert plain.tables["landed_files"][0]["lines_repeated"] == 0


def test_wherever_a_landing_ends(tmp_path: Path) -> None:
    """A batch that comes again in another night is known too; not its first lines where a night ends with them."""
    once = [leads(3 * number, number) + line(3 * number + 1, f"number {number}") for number in range(1, 9)]
    text = "".join([*once[:6], *once[3:6], *once[6:]]).splitlines(keepends=True)
    whole = Zone(tmp_path / "whole")
    whole.write("broker_default.log", "".join(text))
    whole.land()
    assert whole.tables["landed_files"][0]["lines_repeated"] == 6
    for end in sorted({*range(1, len(text))} - {13, 14}):
        zone = Zone(tmp_path / f"zone-{end}")
        zone.append("broker_default.log", "".join(text[:end]))
        zone.land()
        zone.append("broker_default.log", "".join(text[end:]))
        zone.land()
        for table in ("events", "log_lines"):
            before, after = whole.tables[table], zone.tables[table]
            assert [row | {"batch": 0} for row in after] == [row | {"batch": 0} for row in before], end


def test_what_stands_in_an_envelope_comes_again_too(zone: Zone) -> None:
    inside = [leads(3 * number, number) + line(3 * number + 1, f"number {number}") for number in range(1, 9)]
    lines = "".join([*inside[:6], *inside[3:6], *inside[6:]]).splitlines()
    wrapped = (
        f"2026-03-01T09:{at // 3 // 60:02d}:{at // 3 % 60:02d}.5Z stdout F {text}\n" for at, text in enumerate(lines)
    )
    zone.write("broker_default.log", "".join(wrapped))
    assert [row["lines_repeated"] for row in zone.land()["landed_files"]] == [6]
    assert [row["term"] for row in zone.tables["events"] if row["kind"] != "TICK"] == [*range(1, 9)]


def test_a_clock_that_is_put_back_while_nothing_happens_is_no_repetition(zone: Zone) -> None:
    """The lines of the second time are those of the first, letter by letter."""
    idle = [
        line(second, "[n1][LEADER] term=1 ledgerBegin=0 ledgerEnd=10 committed=10 watermarks={}")
        for second in range(90)
    ]
    zone.write("broker_default.log", leads(0) + "".join(idle[1:60]) + "".join(idle[10:90]))
    [told] = zone.land()["landed_files"]
    assert told["lines_repeated"] == 0


def test_two_alike_in_one_second_are_two(zone: Zone) -> None:
    """Only three in order are no chance."""
    there, back = line(5, "[n1] [ChangeRoleToCandidate] from term: 1 and currTerm: 1"), leads(5, 2)
    zone.write("broker_default.log", leads(1) + there + back + there + back + leads(9, 3))
    [told] = zone.land()["landed_files"]
    assert (told["lines_repeated"], told["lines_event"]) == (0, 6)
