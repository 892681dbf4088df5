"""Every line of every file is accounted for, however strange the file."""

import bz2
import gzip
import itertools
from typing import Any

import pyarrow as pa
import pytest

from election_replay.jobs.landing.blocks import LINE_BYTES
from tests.jobs.zone import Zone, leads, line, noise

THREE = leads(0) + noise(1) + leads(2, term=2)


def counts(zone: Zone) -> tuple[int, ...]:
    """Total, event, ignored and quarantined lines of the only file, checked against the rows."""
    made = zone.land()
    (row,) = made["landed_files"]
    found = (row["lines_total"], row["lines_event"], row["lines_ignored"], row["lines_quarantined"])
    assert found[0] == sum(found[1:])
    assert found[1] == len(made["events"]) == len(made["log_lines"])
    assert found[3] == len(made["quarantine"])
    return found


def zst(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("broker.log", THREE.encode(), (3, 2, 1, 0)),
        ("broker.1.log.gz", gzip.compress(THREE.encode()), (3, 2, 1, 0)),
        ("broker.1.log.bz2", bz2.compress(THREE.encode()), (3, 2, 1, 0)),
        ("broker.1.log.zst", zst(THREE.encode()), (3, 2, 1, 0)),
        ("broker.log", THREE.replace("\n", "\r\n").encode(), (3, 2, 1, 0)),
        ("broker.log", b"\xef\xbb\xbf" + THREE.encode(), (3, 2, 1, 0)),
        ("broker.log", (line(0, "集群") + leads(1)).encode("gbk"), (2, 2, 0, 0)),
        ("broker.log", b"", (0, 0, 0, 0)),
        ("broker.log", bytes(range(256)) * 40, (40, 0, 40, 0)),
        ("broker.log", THREE.encode() + b"\xff\xff\xfe broken\n", (4, 2, 2, 0)),
        ("broker.log", THREE.encode() + leads(3).encode().replace(b"[n1]", b"[n\xff\xff]"), (4, 2, 1, 1)),
        ("broker.log", THREE.encode() + line(3, "x" * 70_000).encode(), (4, 2, 1, 1)),
        ("unknown.log", THREE.encode(), (3, 2, 1, 0)),
        ("unknown.log", line(0, "another program").encode() * 3, (3, 0, 3, 0)),
        ("stdout.log", b"no dates here\nnone at all", (1, 0, 1, 0)),
        ("broker.log", (THREE + "Exception: why\n\tat here\n" + noise(4)).encode(), (6, 2, 4, 0)),
    ],
    ids=[
        *("plain", "gz", "bz2", "zst", "crlf", "bom", "gbk", "empty", "binary", "broken bytes of no interest"),
        *("broken bytes of interest", "long line", "unknown name", "no dialect", "no dates", "continuation"),
    ],
)
def test_counts_add_up(zone: Zone, name: str, data: bytes, expected: tuple[int, ...]) -> None:
    zone.write(name, data)
    assert counts(zone) == expected


def test_a_truncated_archive_yields_what_can_be_read_and_one_quarantine_row(zone: Zone) -> None:
    text = "".join(leads(second, term=second) for second in range(1, 3000))
    whole = gzip.compress(text.encode())
    zone.write("broker.1.log.gz", whole[: len(whole) // 2])
    total, event, _, quarantined = counts(zone)
    assert quarantined == 1
    assert 100 < event == total - 1
    assert "damaged" in zone.tables["quarantine"][0]["reason"]
    zone.write("broker.1.log.gz", whole)
    zone.land()
    assert [row["term"] for row in sorted(zone.tables["events"], key=lambda row: row["line_no"])] == list(
        range(1, 3000)
    )


def test_what_is_no_archive_at_all_is_one_quarantine_row(zone: Zone) -> None:
    zone.write("broker.1.log.gz", b"not compressed\n")
    assert counts(zone) == (1, 0, 0, 1)


def test_a_long_line_keeps_its_beginning_and_its_length(zone: Zone) -> None:
    text = line(0, "x" * LINE_BYTES)
    zone.write("broker.log", text)
    zone.land()
    (row,) = zone.tables["quarantine"]
    assert row["text_length"] == len(text)
    assert len(row["text"]) == 2000


def test_a_giant_line_is_never_held_whole(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("election_replay.jobs.landing.blocks.CHUNK_BYTES", 10_000)
    monkeypatch.setattr("election_replay.jobs.landing.blocks.HELD_BYTES", 200_000)
    giant = line(1, "x" * 1_000_000)
    zone.write("broker.log", leads(0) + giant + leads(2, term=2))
    assert counts(zone) == (3, 2, 0, 1)
    assert zone.tables["quarantine"][0]["text_length"] == len(giant)
    assert zone.tables["landed_files"][0]["bytes_landed"] == len(leads(0) + giant + leads(2, term=2))


def test_an_absurd_number_is_quarantined_with_its_reason(zone: Zone) -> None:
    zone.write("broker.log", leads(0, term=10**25))
    assert counts(zone) == (1, 0, 0, 1)
    assert zone.tables["quarantine"][0]["reason"]


def test_the_text_behind_an_event_is_kept_with_its_continuation(zone: Zone) -> None:
    zone.write("broker.log", leads(0) + "".join(f"\tat {n}\n" for n in range(30)) + noise(1))
    zone.land()
    text = zone.tables["log_lines"][0]["text"].splitlines()
    assert text[0] == leads(0).rstrip()
    assert text[1:] == [f"\tat {n}" for n in range(20)]


def flooded(second: int, offset: int = 0) -> str:
    return line(second, f"Init the confirmOffset to {offset}.", "main")


def test_a_flood_is_one_event_for_ten_seconds(zone: Zone) -> None:
    """All others are ignored, and counted; what is no flood stays."""
    text = "".join(flooded(second // 50) for second in range(1500)) + leads(29) + flooded(29) + leads(29, term=2)
    zone.write("store.log", text)
    assert counts(zone)[0] == 1503
    kept = [row["line_no"] for row in zone.tables["events"] if row["kind"] == "HA_CONFIRM_INIT"]
    assert kept == [1, 501, 1001]
    assert [row["term"] for row in zone.tables["events"] if row["kind"] == "DL_TO_LEADER"] == [1, 2]


def test_a_flood_is_told_apart_by_consumer_group_and_topic(zone: Zone) -> None:
    moved = "PULL_OFFSET_MOVED:none correction. topic={}, groupId={}, requestOffset={}, suggestBrokerId=0"
    who = [("T", "g"), ("T", "h"), ("U", "g"), ("T", "g"), ("T", "h")]
    zone.write("broker.log", "".join(line(at, moved.format(*one, at)) for at, one in enumerate(who)))
    assert counts(zone) == (5, 3, 2, 0)


def test_a_flood_over_many_nights_is_the_same_as_at_once(zone: Zone) -> None:
    text = "".join(flooded(second // 7) + (leads(second // 7) if second % 60 == 0 else "") for second in range(300))
    zone.write("store.log", text)
    whole = key_events(zone.land())
    again = Zone(zone.root.parent / "again")
    for end in (7, 333, 2_000, 9_001, len(text)):
        again.write("store.log", text[:end])
        again.land()
    assert key_events(again.tables) == whole


def key_events(made: dict[str, list[dict[str, Any]]]) -> list[str]:
    return sorted(repr((row["line_no"], row["kind"], row["event_time"])) for row in made["events"])


def time_buckets(zone: Zone) -> list[int]:
    return sorted(row["line_no"] for row in zone.tables["events"] if row["kind"] == "TICK")


def test_both_ends_of_a_silence_are_events(zone: Zone) -> None:
    seconds = [0, 1, 2, 3, 63, 64, 65]
    zone.write("broker.log", "".join(noise(second) for second in seconds))
    zone.land()
    assert time_buckets(zone) == [1, 4, 5]


@pytest.mark.parametrize("chunk", [80, 300, 1 << 20])
def test_a_clock_that_was_put_back_does_not_silence_the_log(
    zone: Zone, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Wherever the blocks end: both lines of the step, and a sign of life for every ten seconds after it."""
    monkeypatch.setattr("election_replay.jobs.landing.blocks.CHUNK_BYTES", chunk)
    seconds = [*range(100, 200, 2), *range(140, 240, 2)]
    zone.write("broker.log", "".join(noise(second) for second in seconds))
    zone.land()
    assert {50, 51} <= set(time_buckets(zone))
    after = [seconds[line_no - 1] for line_no in time_buckets(zone) if line_no > 50]
    assert all(0 < later - earlier <= 10 for earlier, later in itertools.pairwise(after))
    assert after[-1] >= 230


def test_a_few_lines_out_of_order_make_no_new_ticks(zone: Zone) -> None:
    seconds = [0, 5, 12, 9, 8, 15, 21, 19, 22]
    zone.write("broker.log", "".join(noise(second) for second in seconds))
    zone.land()
    assert time_buckets(zone) == [1, 2, 3, 6, 7]


def test_a_line_that_is_an_event_is_no_tick_besides(zone: Zone) -> None:
    zone.write("broker.log", noise(0) + leads(1) + leads(63, term=2) + noise(64))
    assert counts(zone) == (4, 3, 1, 0)
    assert time_buckets(zone) == [1]


@pytest.mark.parametrize("large", [0, 64 << 20])
@pytest.mark.parametrize("chunk", [200, 1000, 5000])
def test_where_the_chunks_end_does_not_matter(
    zone: Zone, monkeypatch: pytest.MonkeyPatch, chunk: int, large: int
) -> None:
    """Neither does a thread that reads ahead, as one does in large files."""
    text = "".join(leads(s, term=s) + "\tat here\n\tat there\n" if s % 7 == 0 else noise(s * 3) for s in range(100))
    zone.write("broker.log", text)
    whole = key_rows(zone.land())
    again = Zone(zone.root.parent / "again")
    again.write("broker.log", text)
    monkeypatch.setattr("election_replay.jobs.landing.blocks.CHUNK_BYTES", chunk)
    monkeypatch.setattr("election_replay.jobs.landing.one_file.LARGE_BYTES", large)
    assert key_rows(again.land()) == whole


def key_rows(made: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """All rows but where a file was read, in order."""
    return {
        table: sorted(repr({k: v for k, v in row.items() if k not in {"modified_at", "batch"}}) for row in made[table])
        for table in made
    }
