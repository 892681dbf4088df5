"""Logs that were copied from pages, mails and editors are read as they were written."""

from datetime import UTC, datetime
from itertools import pairwise
from textwrap import wrap

import pytest

from election_replay.election_core.model.streams import stream_of
from election_replay.jobs.landing.copied import rejoined, text_of_page, words_within
from election_replay.jobs.landing.exports import as_written
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.pasted import members_of

FILE = LogFile("a.log", "c", "n", 0, int(datetime(2026, 3, 2, tzinfo=UTC).timestamp() * 1_000_000), settled=True)
LINES = [
    f"2026-03-01 10:00:{second:02}.000000 I | raft: 8e9e05c52164694d [logterm: 2, index: {second}] received MsgVoteResp "
    "from 8e9e05c52164694d at term 3, and grants its vote to the member that asked for it"
    for second in range(40)
]


def test_lines_that_an_editor_broke_between_words_are_joined() -> None:
    broken = [part for line in LINES for part in wrap(line, 80, break_on_hyphens=False)]
    width = words_within(broken)
    assert width is not None
    assert rejoined(broken, width) == LINES
    assert as_written("\n".join(broken), FILE)[0] == LINES


def folded(line: str, width: int) -> list[str]:
    """Return a line as ``fold -s`` writes it: with the space at the end of each part, and longer words broken too."""
    parts = []
    while len(line) > width:
        at = line.rfind(" ", 0, width) + 1 or width
        parts.append(line[:at])
        line = line[at:]
    return [*parts, line]


def test_lines_that_fold_broke_are_joined() -> None:
    long = [line.replace("received", f"received-{'from-' * 20}") for line in LINES]
    broken = [part for line in long for part in folded(line, 80)]
    assert max(map(len, broken)) == 80
    assert as_written("\n".join(broken), FILE)[0] == long


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(LINES, id="whole lines"),
        pytest.param([line for each in LINES for line in (each[:90], "\tat a.b.C.d(C.java:1)")], id="stack traces"),
        pytest.param([f"2026-03-01 10:00:{second:02} INFO main - short" for second in range(40)], id="short lines"),
    ],
)
def test_other_lines_were_not_broken_between_words(lines: list[str]) -> None:
    assert words_within(lines) is None


def test_a_file_of_settings_was_not_broken() -> None:
    settings = "".join(
        f"{node:x}" * 40 + f" 10.84.6.{node}:6379@16379 slave {node + 1:x}{'0' * 39} 0 1795695840000 {node} connected\n"
        for node in range(10, 15)
    )
    assert as_written(f"{settings}vars currentEpoch 6 lastVoteEpoch 0\n", FILE) == (None, [])


def test_spaces_of_a_page_that_must_not_be_broken_are_spaces() -> None:
    page = '<html><body><div class="line"><code>2026-03-01&nbsp;10:00:00&nbsp;INFO&nbsp;x</code></div></body></html>'
    assert text_of_page(page).strip() == "2026-03-01 10:00:00 INFO x"
    assert as_written("2026-03-01\xa010:00:00 INFO x\n", FILE)[0] == ["2026-03-01 10:00:00 INFO x"]


def test_marks_of_a_quotation_come_off_each_line_that_has_them() -> None:
    quoted = ">> 2026-03-01 10:00:00 INFO a\n> > 2026-03-01 10:00:01 INFO b\n2026-03-01 10:00:02 INFO c\n"
    assert as_written(quoted, FILE)[0] == [
        "2026-03-01 10:00:00 INFO a",
        "2026-03-01 10:00:01 INFO b",
        "2026-03-01 10:00:02 INFO c",
    ]
    assert as_written("2026-03-01 10:00:00 INFO a > b\n\t> c\n", FILE)[0] is None


def test_a_date_with_its_day_first_is_no_name_of_a_host() -> None:
    lines, assumed = as_written("22.11.2026 06:59:52,672 [myid:1] - INFO a\n", FILE)
    assert lines == ["2026-11-22 06:59:52,672 [myid:1] - INFO a"]
    assert assumed == ["its dates are read as day.month.year"]


def test_lines_that_tail_follows_in_several_files_are_read_apart() -> None:
    """Time hardly goes back between them: only the headings tell them apart."""
    of_file = {name: [f"2026-03-01 10:00:0{at} INFO {name} {at}" for at in range(6)] for name in ("a", "b")}
    text = []
    for at in range(6):
        for name in ("a", "b"):
            text += ["", f"==> /var/log/{name}/etcd.log <==", of_file[name][at]]
    assert all(before <= after for before, after in pairwise(line[:19] for line in text if line[:1] == "2"))
    members = {path: [line for line in lines if line] for path, lines in members_of(text, "tail.txt")}
    assert members == {f"var/log/{name}/etcd.log": lines for name, lines in of_file.items()}


def test_a_text_file_is_the_log_whose_name_it_has() -> None:
    assert stream_of("broker.log.txt") == stream_of("broker.3.log.txt") == "broker.log"
    assert stream_of("notes.txt") == "notes.txt"


def test_pages_of_a_pdf_are_joined() -> None:
    long = [f"{line} {'and its reasons ' * number}" for number, line in enumerate(LINES * 4)]
    broken = [line[at : at + 100] for line in long for at in range(0, len(line), 100)]
    pages = []
    for page, at in enumerate(range(0, len(broken), 30), 1):
        pages += [*broken[at : at + 30], f"Confidential          Page {page} of 40", "\x0cIncident 4711", ""]
    found, assumed = as_written("\n".join(pages), FILE)
    assert found == long
    assert assumed == ["its pages are joined", "its lines are broken at 100 columns: they are joined"]


def test_a_few_lines_that_tell_of_pages_are_no_pages() -> None:
    text = [*LINES[:20], "\tat page 3 of 7", *LINES[20:], "\tat page 4 of 7"]
    assert as_written("\n".join(text), FILE)[0] is None


def test_a_title_of_a_page_names_the_node_below_it() -> None:
    """As of an incident's page in a wiki: a title for each node."""
    body = "".join(f"<h2 class='x'>zk-{node}</h2><pre>{'<br/>'.join(LINES[:5])}</pre>" for node in (1, 2))
    lines = text_of_page(f"<html><body><h1>Logs</h1>{body}</body></html>").splitlines()
    assert [(path, len(below)) for path, below in members_of(lines, "page.html")] == [
        ("zk-1/page.html", 5),
        ("zk-2/page.html", 5),
    ]
