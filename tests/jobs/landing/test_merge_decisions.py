"""What a landing decides where a file is read anew, changes its layout, comes in pieces, or names a known node."""

from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.settings.config import Config, LayoutRule, SourceRule
from election_replay.schemas.landed_files import NOT_UNDERSTOOD
from tests.election_core.envelopes.shippers import shipped
from tests.jobs.zone import Zone, leads, noise

LINES = [text.rstrip("\n") for at in range(20) for text in (leads(2 * at, term=at + 1), noise(2 * at + 1))]
OWN = "<%d{yyyy-MM-dd HH:mm:ss}> {%p} by %t :: %m%n"


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    return Zone(tmp_path / "zone")


def in_own_layout(line: str) -> str:
    day, clock, level, thread, _, message = line.split(" ", 5)
    return f"<{day} {clock}> {{{level}}} by {thread} :: {message}"


def terms(zone: Zone) -> list[int]:
    rows = sorted(zone.tables["events"], key=lambda row: (row["batch"], row["line_no"]))
    return [row["term"] for row in rows if row["kind"] != "TICK"]


def balanced(zone: Zone, lines: int) -> None:
    """Each line is counted once, over all landings, whatever was read again."""
    sums = [
        sum(row[name] for row in zone.tables["landed_files"])
        for name in ("lines_total", "lines_event", "lines_ignored", "lines_quarantined")
    ]
    assert sums[0] == lines == sum(sums[1:])
    assert sums[1] == len(zone.tables["events"]) == len({row["event_id"] for row in zone.tables["events"]})


# A file is read again under a layout that is set


def test_what_was_not_understood_is_read_again_whole_once_its_layout_is_set(zone: Zone) -> None:
    text = "\n".join(map(in_own_layout, LINES[:30])) + "\n"
    zone.write("broker.log", text)
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith(NOT_UNDERSTOOD)
    assert (row["lines_event"], row["lines_ignored"]) == (0, 30)
    assert not any(zone.land().values())
    zone.config = Config(layouts=(LayoutRule("broker.log", "rocketmq", OWN),))
    made = zone.land()
    assert [(row["status"], row["problem"]) for row in made["landed_files"]] == [("grown", None)]
    assert terms(zone) == list(range(1, 16))
    balanced(zone, 30)
    zone.write("broker.log", text + "\n".join(map(in_own_layout, LINES[30:])) + "\n")
    zone.land()
    assert terms(zone) == list(range(1, 21))
    balanced(zone, 40)
    assert not any(zone.land().values())


def test_what_was_understood_is_not_read_again_whatever_is_set_later(zone: Zone) -> None:
    zone.write("broker.log", "\n".join(LINES) + "\n")
    zone.land()
    zone.config = Config(layouts=(LayoutRule("broker.log", "rocketmq", OWN),))
    assert not any(zone.land().values())
    zone.append("broker.log", leads(100, term=99))
    zone.land()
    assert terms(zone) == [*range(1, 21), 99]
    balanced(zone, 41)


def test_a_file_is_read_again_in_its_envelopes_too(zone: Zone) -> None:
    zone.write("broker.log", "\n".join(shipped("cri", map(in_own_layout, LINES))) + "\n")
    zone.land()
    zone.config = Config(layouts=(LayoutRule("broker.log", "rocketmq", OWN),))
    zone.land()
    assert terms(zone) == list(range(1, 21))
    balanced(zone, 40)


# Pieces of lines, and whose rows they are counted in


def pieces(line: str, channel: str = "stdout") -> list[str]:
    half = len(line) // 2
    tags = (("P", line[:half]), ("F", line[half:]))
    return [f"2026-03-01T10:00:00.1Z {channel} {tag} {text}" for tag, text in tags]


def test_lines_in_pieces_are_counted_in_the_files_row_and_never_in_a_nodes(zone: Zone) -> None:
    rows = [f"[pod/zk-{at % 2}/main] {piece}" for at, line in enumerate(LINES) for piece in pieces(line)]
    zone.write("broker.log", "\n".join(rows) + "\n")
    made = zone.land()
    assert terms(zone) == list(range(1, 21))
    balanced(zone, 80)
    parts = {row["source_node"]: row for row in made["landed_files"] if row["status"] == "part"}
    assert parts.keys() == {"zk-0", "zk-1"}
    assert all(row["lines_total"] == 0 for row in parts.values())


def test_a_piece_of_one_node_is_not_joined_to_anothers(zone: Zone) -> None:
    (begin_a, end_a), (begin_b, end_b) = pieces(LINES[0]), pieces(LINES[2])
    rows = [f"[pod/a/m] {begin_a}", f"[pod/b/m] {begin_b}", f"[pod/a/m] {end_a}", f"[pod/b/m] {end_b}"]
    rows += [f"[pod/a/m] {line}" for line in shipped("cri", LINES[4:])]
    zone.write("broker.log", "\n".join(rows) + "\n")
    zone.land()
    assert sorted(terms(zone)) == list(range(1, 21))
    assert {row["source_node"]: row["term"] for row in zone.tables["events"] if row["term"] in (1, 2)} == {
        "a": 1,
        "b": 2,
    }
    balanced(zone, 40)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_nights_that_end_in_a_piece_count_each_line_once(zone: Zone, cut: int) -> None:
    rows = [piece for line in LINES for piece in pieces(line)]
    zone.write("broker.log", "\n".join(rows[: 40 + cut]) + "\n")
    zone.land()
    zone.write("broker.log", "\n".join(rows) + "\n")
    zone.land()
    assert terms(zone) == list(range(1, 21))
    balanced(zone, 80)


# Events stop while lines go on


def test_a_layout_that_changes_in_the_middle_of_a_file_is_told(zone: Zone) -> None:
    zone.write("broker.log", "\n".join([*LINES, *map(in_own_layout, LINES * 2)]) + "\n")
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith(NOT_UNDERSTOOD)
    assert "80 lines look dated, but not as the 40 others" in row["problem"]
    assert terms(zone) == list(range(1, 21))


def test_a_layout_that_changes_from_one_night_to_the_next_is_told(zone: Zone) -> None:
    zone.write("broker.log", "\n".join(LINES) + "\n")
    assert zone.land()["landed_files"][0]["problem"] is None
    zone.append("broker.log", "\n".join(map(in_own_layout, LINES)) + "\n")
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith(f"{NOT_UNDERSTOOD}none of 40 lines begins as one of rocketmq does")


def test_a_known_layout_that_follows_another_is_told_and_nothing_is_taken_for_events(zone: Zone) -> None:
    """A broker was given another pattern and started anew: what its lines say is not read, and not passed over."""
    other = [line.replace(" INFO ", ",123 [main] INFO org.example.A ", 1) for line in LINES]
    zone.write("broker.log", "\n".join(LINES) + "\n")
    zone.land()
    zone.append("broker.log", "\n".join(other) + "\n")
    [row] = zone.land()["landed_files"]
    assert (row["problem"] or "").startswith(NOT_UNDERSTOOD) or terms(zone) == [*range(1, 21)] * 2


def test_lines_of_no_layout_under_a_known_name_are_told(zone: Zone) -> None:
    zone.write("broker.log", "".join(f"line {at} of what nobody knows\n" for at in range(30)))
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith(f"{NOT_UNDERSTOOD}none of 30 lines begins as one of rocketmq does")


def test_a_banner_under_a_known_name_is_no_problem(zone: Zone) -> None:
    zone.write("zookeeper.out", "ZooKeeper JMX enabled by default\nUsing config: /conf/zoo.cfg\nStarting zookeeper\n")
    assert [row["problem"] for row in zone.land()["landed_files"]] == [None]


# A node that an envelope names, and a folder of that name


@pytest.mark.parametrize("named", ["n1", "N1", "n1.example.org", "N1.Example.ORG"])
def test_a_node_that_bears_the_folders_name_is_the_folders(zone: Zone, named: str) -> None:
    zone.write("broker.log", "\n".join(shipped("compose", LINES, named)) + "\n")
    made = zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {"n1"}
    assert [row["status"] for row in made["landed_files"]] == ["landed"]


@pytest.mark.parametrize("named", ["n1-1", "n1x", "n11.example.org"])
def test_a_node_with_a_longer_name_is_another_one(zone: Zone, named: str) -> None:
    zone.write("broker.log", "\n".join(shipped("compose", LINES, named)) + "\n")
    zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {named}


def test_lines_of_another_folders_node_are_that_nodes(zone: Zone) -> None:
    """Who collects on n1 what n2 says, while n2 has a folder of its own: both are n2's, each line once."""
    zone.write("../../n2/logs/broker.log", "\n".join(LINES[:20]) + "\n")
    zone.write("collected.log", "\n".join(shipped("compose", LINES[20:], "n2")) + "\n")
    made = zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {"n2"}
    assert terms(zone) == list(range(1, 21)) or sorted(terms(zone)) == list(range(1, 21))
    statuses = sorted((row["source_node"], row["status"]) for row in made["landed_files"])
    assert statuses == [("n1", "landed"), ("n2", "landed"), ("n2", "part")]
    assert not any(zone.land().values())


def test_a_folders_own_file_is_seen_though_another_file_tells_of_its_node(zone: Zone) -> None:
    """A part's row stands for lines of its node elsewhere: it hides no file of the node's own folder."""
    lines = shipped("compose", LINES, "n2")
    zone.write("broker.log", "\n".join(lines) + "\n")
    zone.land()
    own = zone.write("../../n2/logs/broker.log", "\n".join([leads(200, term=77).rstrip()]) + "\n")
    assert own.exists()
    zone.land()
    assert sorted(terms(zone)) == [*range(1, 21), 77]


def test_settings_name_the_folder_where_its_name_counts(zone: Zone) -> None:
    zone.config = Config(sources=(SourceRule(cluster="c1", node="n1", node_from="folder"),))
    zone.write("broker.log", "\n".join(shipped("compose", LINES, "elsewhere")) + "\n")
    made: dict[str, list[dict[str, Any]]] = zone.land()
    assert {row["source_node"] for row in made["events"]} == {"n1"}
    assert [row["status"] for row in made["landed_files"]] == ["landed"]
