"""Envelopes that are broken, mixed, huge or exchanged: nothing is lost, and nothing is silent."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.dialects import speaker_of
from election_replay.election_core.envelopes import Inner, Reader, Refused, detected
from election_replay.jobs.landing.as_written import GREW
from election_replay.jobs.landing.blocks import LINE_BYTES
from tests.election_core.envelopes.shippers import SHIPPERS, exported, shipped
from tests.jobs.zone import Zone, leads, noise

LINES = [text.rstrip("\n") for at in range(20) for text in (leads(2 * at, term=at + 1), noise(2 * at + 1))]
TRACE = ["java.lang.IllegalStateException: why", "\tat org.example.A.b(A.java:7)", "\tat org.example.C.d(C.java:8)"]


def known(text: str) -> bool:
    return speaker_of(text) is not None


def landed(zone: Zone, data: bytes | str, name: str = "broker.log") -> dict[str, list[dict[str, Any]]]:
    zone.write(name, data)
    made = zone.land()
    for row in made["landed_files"]:
        assert row["lines_total"] == row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
    assert sum(row["lines_event"] for row in made["landed_files"]) == len(made["events"]) == len(made["log_lines"])
    assert sum(row["lines_quarantined"] for row in made["landed_files"]) == len(made["quarantine"])
    return made


def terms(made: dict[str, list[dict[str, Any]]]) -> list[int]:
    return [row["term"] for row in sorted(made["events"], key=lambda row: row["line_no"]) if row["kind"] != "TICK"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"log": "2026-03-01 17:00:0', "not JSON"),
        ('nds INFO x - half of a line","stream":"stdout","time":"2026-03-01T09:00:00Z"}', "not a line of docker"),
        ('{"log": ' + "[" * 30_000, "not JSON"),
        ('{"nothing": "of interest"}', "not a line of docker"),
        ('{"log": 7, "stream": "stdout", "time": "2026-03-01T09:00:00Z"}', "not a line of docker"),
        ("[1, 2]", "not a line of docker"),
        ('{"log": "\\ud800", "stream": "stdout", "time": "2026-03-01T09:00:00Z"}', "half a character"),
        ('{"log": "' + "x" * LINE_BYTES + '", "stream": "stdout", "time": "2026-03-01T09:00:00Z"}', "longer than"),
        ('{"logEvents": [{"message": "a"}, {"message": "b"}], "logStream": "x"}', "holds 2 lines in one"),
        (json.dumps({"log": "\n".join(LINES[:4]), "stream": "stdout", "time": "x"}), "several records"),
        ("\x00\x01\x02", "not a line of docker"),
    ],
    ids=range(11),
)
def test_a_broken_line_is_quarantined_and_costs_nothing_else(zone: Zone, broken: str, reason: str) -> None:
    lines = shipped("docker json-file", LINES)
    made = landed(zone, "\n".join([*lines[:20], broken, *lines[20:]]) + "\n")
    assert terms(made) == list(range(1, 21))
    [row] = made["quarantine"]
    assert row["line_no"] == 21
    assert reason in row["reason"]


def test_a_line_of_no_envelope_between_prefixes_goes_on_with_the_record(zone: Zone) -> None:
    """Banners, marks of a rolled file, further lines of an entry below its first one."""
    lines = ["-- Logs begin at Sun 2026-03-01. --", *shipped("journal short", LINES[:3])]
    indent = " " * (len(lines[-1]) - len(LINES[2]))
    lines += [indent + text for text in TRACE] + ["-- Boot 2f1e --", "", *shipped("journal short", LINES[3:])]
    made = landed(zone, "\n".join(lines) + "\n")
    assert terms(made) == list(range(1, 21))
    assert made["log_lines"][1]["text"].split("\n")[1:3] == TRACE[:2]
    assert not made["quarantine"]


@pytest.mark.parametrize("shipper", ["compose", "cri", "docker json-file", "kubectl prefix", "rsyslog"])
def test_a_stack_trace_of_one_node_is_not_torn_by_another(zone: Zone, shipper: str) -> None:
    rows = [("a", LINES[0]), ("b", LINES[2]), ("a", TRACE[0]), ("b", LINES[4]), ("a", TRACE[1]), ("a", LINES[6])]
    if shipper in {"cri", "docker json-file"}:
        rows = [("a", text) for text in (LINES[0], *TRACE[:2], LINES[2], LINES[4], LINES[6])]
    made = landed(zone, "\n".join(shipped(shipper, [text], node)[0] for node, text in rows) + "\n")
    assert sorted(terms(made)) == [1, 2, 3, 4]
    text = next(row["text"] for row in made["log_lines"] if row["line_no"] == 1)
    assert text.split("\n") == [LINES[0], *TRACE[:2]]


@pytest.mark.parametrize("first", ["cri", "compose", "filebeat", "docker json-file", "rsyslog"])
@pytest.mark.parametrize(
    "then", ["cri", "compose", "filebeat", "fluent bit", "kubectl prefix and time stamps", "plain"]
)
def test_an_exchanged_shipper_is_noticed_in_the_middle_of_a_file(zone: Zone, first: str, then: str) -> None:
    file = "/logs/broker.log"
    later = LINES[30:] if then == "plain" else shipped(then, LINES[30:], file=file)
    made = landed(zone, "\n".join([*shipped(first, LINES[:30], file=file), *later]) + "\n")
    assert terms(made) == list(range(1, 21))
    assert not made["quarantine"]


@pytest.mark.parametrize("channel", ["one", "two"])
def test_pieces_of_a_line_are_joined(zone: Zone, channel: str) -> None:
    begin, end = LINES[0][:30], LINES[0][30:]
    rows = [f"2026-03-01T10:00:00.1Z stdout P {begin}", f"2026-03-01T10:00:00.2Z stdout F {end}"]
    if channel == "two":
        rows.insert(1, f"2026-03-01T10:00:00.15Z stderr F {LINES[2]}")
    made = landed(zone, "\n".join([*rows, *shipped("cri", LINES[4:])]) + "\n")
    assert sorted(terms(made)) == [1, *([2] if channel == "two" else []), *range(3, 21)]
    assert next(row for row in made["log_lines"] if row["line_no"] == 1)["text"] == LINES[0]


def test_pieces_that_two_nights_bring_are_joined(zone: Zone) -> None:
    lines = [*shipped("cri", LINES[2:]), "2026-03-01T10:00:00.1Z stdout P " + LINES[0][:30]]
    first = "\n".join(lines) + "\n"
    landed(zone, first)
    assert zone.tables["landed_files"][-1]["bytes_waiting"] == 30
    landed(zone, first + f"2026-03-01T10:00:00.2Z stdout F {LINES[0][30:]}\n")
    assert terms(zone.tables) == [*range(2, 21), 1]
    assert sum(row["lines_total"] for row in zone.tables["landed_files"]) == len(lines) + 1


def test_a_last_piece_that_nothing_follows_is_read_as_it_is(zone: Zone) -> None:
    landed(zone, "\n".join([*shipped("cri", LINES[2:]), "2026-03-01T10:00:00.1Z stdout P " + LINES[0]]) + "\n")
    assert terms(zone.tables) == list(range(2, 21))
    made = zone.land()
    assert terms(made) == [1]
    assert [row["status"] for row in made["landed_files"]] == ["grown"]
    assert not any(zone.land().values())


def test_docker_cuts_lines_of_16_kibibytes(zone: Zone) -> None:
    long = LINES[0] + " " * (16 << 10)
    at = {"stream": "stdout", "time": "2026-03-01T10:00:00Z"}
    pieces = [long[: 16 << 10], long[16 << 10 :] + "\n"]
    lines = [json.dumps({"log": piece, **at}) for piece in pieces]
    assert terms(landed(zone, "\n".join([*lines, *shipped("docker json-file", LINES[2:])]) + "\n")) == list(
        range(1, 21)
    )


def test_pieces_without_an_end_are_not_held_for_ever(zone: Zone) -> None:
    piece = "2026-03-01T10:00:00.1Z stdout P " + "x" * 30_000
    made = landed(zone, "\n".join([*shipped("cri", LINES), *[piece] * 7]) + "\n")
    assert terms(made) == list(range(1, 21))
    assert len(made["quarantine"]) == 2
    assert all("pieces of a line" in row["reason"] for row in made["quarantine"])


def test_more_nodes_than_a_cluster_has_are_quarantined(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("election_replay.jobs.landing.enveloped.MOST_SOURCES", 5)
    made = landed(zone, "\n".join(shipped("compose", [text], f"n-{at}")[0] for at, text in enumerate(LINES)) + "\n")
    assert len(made["quarantine"]) == 35
    assert "more than 5 nodes" in made["quarantine"][0]["reason"]


def test_a_journal_export_that_is_cut_goes_on_with_the_next_entry(zone: Zone) -> None:
    whole = exported([[line] for line in LINES])
    entries = whole.split(b"\n\n")
    entries[3] = b"__CURSOR=x\nMESSAGE\n" + b"\xff" * 8 + b"what\n\n__CURSOR"
    made = landed(zone, b"\n\n".join(entries))
    assert terms(made)[0] == 1
    assert terms(made)[-1] == 20
    assert made["quarantine"]


@pytest.mark.parametrize("cut", range(7))
def test_a_journal_export_night_by_night(zone: Zone, cut: int) -> None:
    """Nights end anywhere: in the length of a binary field too."""
    whole = exported([[LINES[0], *TRACE], *([line] for line in LINES[1:])])
    at = whole.index(b"MESSAGE\n") + 8 * cut
    landed(zone, whole[:at])
    landed(zone, whole)
    landed(zone, whole + exported([[leads(100, term=99).rstrip("\n")]]))
    assert terms(zone.tables) == [*range(1, 21), 99]


def test_a_file_that_begins_with_banners_is_known_when_its_lines_come(zone: Zone) -> None:
    text = "Attaching to n1-1\n"
    landed(zone, text)
    landed(zone, text + "\n".join(shipped("compose", LINES)) + "\n")
    assert terms(zone.tables) == list(range(1, 21))
    assert zone.tables["landed_files"][-1]["lines_landed"] == 41


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_file_holds_its_lines_are_accounted_for(zone: Zone, seed: int) -> None:
    chance = random.Random(seed)
    lines = []
    for text in LINES * 3:
        line = shipped(chance.choice(list(SHIPPERS)), [text], chance.choice(["a", "b", "n1"]))[0]
        cut = chance.choice([None, None, None, chance.randrange(len(line))])
        lines.append(line[:cut] if chance.random() < 0.5 else line[cut:])
    data = bytearray("\n".join(lines).encode())
    for _ in range(chance.choice([0, 5])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    landed(zone, bytes(data))
    cut = chance.randrange(len(data))
    nights = Zone(zone.root.parent / "nights")
    landed(nights, bytes(data[:cut]))
    landed(nights, bytes(data))


@pytest.mark.parametrize("seed", range(30))
def test_a_reader_raises_nothing_and_forgets_no_line(seed: int) -> None:
    chance = random.Random(seed)
    chain = detected([SHIPPERS[name] and line for name in SHIPPERS for line in shipped(name, LINES[:1])], known)
    assert chain == ()
    for name in chance.sample(list(SHIPPERS), 8):
        lines = shipped(name, LINES)
        chain = detected(lines, known)
        reader = Reader(chain, known)
        for number, line in enumerate(lines, 1):
            at = chance.randrange(len(line))
            odd = line[:at] + chance.choice(["", "\x00", '"', "\\", "]", "|", "\ud800", "{" * 40]) + line[at + 1 :]
            for found in reader.read(number, odd):
                assert isinstance(found, Inner | Refused)
                assert found.line_no <= number
        again = Reader(chain, known, reader.state())
        assert again.state() == reader.state()
        list(reader.finish())


@pytest.mark.parametrize(
    "lines",
    [
        [noise(at).rstrip() for at in range(30)],
        ["*" * 30, "welcome", *TRACE * 10],
        ["zk | table | of | things"] * 3 + [noise(at).rstrip() for at in range(30)],
        [f"2026-03-01T10:00:{at:02d}.123Z INFO x.y.Z: a line of nobody's" for at in range(30)][:0],
        [],
        [""] * 5,
    ],
)
def test_plain_files_are_plain(lines: list[str]) -> None:
    assert detected(lines, known) == ()


def test_half_of_a_character_ends_in_quarantine_and_not_in_a_name(tmp_path: Path) -> None:
    zone = Zone(tmp_path)
    text = "\n".join(LINES) + "\n"
    data = bytearray(text.encode("utf-16"))
    at = text.index("[n1]") + 1
    data[2 + 2 * at : 4 + 2 * at] = b"\x00\xd8"
    made = landed(zone, bytes(data))
    assert terms(made) == list(range(2, 21))
    assert [row["reason"] for row in made["quarantine"]] == ["not text"]


@pytest.mark.parametrize("shipper", ["logcli", "logcli jsonl", "gcp"])
def test_a_file_with_the_newest_line_first_is_turned_and_may_not_grow(zone: Zone, shipper: str) -> None:
    """Its order is no program order: read as one it would tell of terms that go back."""
    wanted = terms(landed(zone, "\n".join(shipped(shipper, LINES)) + "\n"))
    made = landed(zone, "\n".join(reversed(shipped(shipper, LINES))) + "\n")
    assert terms(made) == wanted != []
    row = made["landed_files"][0]
    assert "newest line comes first" in row["put_right"]
    assert (row["lines_total"], row["lines_quarantined"], row["problem"]) == (40, 0, None)
    zone.append("broker.log", "\n".join(shipped(shipper, [leads(99, term=99).rstrip()])) + "\n")
    assert zone.land()["landed_files"][0]["problem"] == GREW
