"""Marks that are set in the dashboard: by whom, with which form, and what of a mark is refused."""

from functools import partial
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from election_replay.jobs.cli.app import main
from election_replay.jobs.review import mark
from election_replay.jobs.showing import dashboard as shown
from election_replay.jobs.showing.dashboard_review import Reviewing
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.showing.test_dashboard import HOSTILE, asked, filled, words
from tests.jobs.showing.test_report import Reader


def form_in(page: Reader) -> dict[str, str]:
    """The hidden fields of the form that marks a finding."""
    inputs = [given for name, given in page.elements if name == "input" and given.get("type") == "hidden"]
    return {str(given["name"]): str(given["value"]) for given in inputs}


def test_a_mark_is_shown_and_set_where_that_is_allowed(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    plain = shown.dashboard(tables).test_client()
    assert "nobody has marked it" in words(asked(plain, "/finding?id=f1"))
    assert form_in(asked(plain, "/finding?id=f1")) == {}
    assert plain.post("http://127.0.0.1/review", data={"id": "f1"}).status_code == 405
    client = shown.dashboard(tables, "/elections", reviewing=Reviewing(partial(mark, tables), "Ann")).test_client()
    form = form_in(asked(client, "/finding?id=f1")) | {"state": "false_alarm", "note": HOSTILE, "reviewer": "Eve"}
    done = client.post("http://127.0.0.1/review", data=form)
    assert (done.status_code, done.headers["Location"]) == (303, "/elections/finding?id=f1")
    said = words(asked(client, "/finding?id=f1"))
    assert "false alarm, by Ann at" in said
    assert "onerror=alert(1)" in said
    assert "Reviewfalse alarm" in words(asked(plain, "/")), "readers see it at once"
    assert [row["state"] for row in tables.rows("reviews")] == ["false_alarm"]


@pytest.mark.parametrize(
    ("change", "headers", "code", "said"),
    [
        ({"token": ""}, {}, 400, "load the page of the finding again"),
        ({"token": "x" * 43}, {}, 400, "load the page of the finding again"),
        ({"token": "ä"}, {}, 400, "load the page of the finding again"),
        ({}, {"Sec-Fetch-Site": "cross-site"}, 403, ""),
        ({}, {"Host": "evil.example"}, 403, ""),
        ({"state": "gone"}, {}, 400, "gone is no mark"),
        ({"state": "ticket"}, {}, 400, "name the ticket"),
        ({"id": "nix"}, {}, 400, "no finding has an id that begins with nix"),
        ({}, {"X-Forwarded-For": "10.0.0.1"}, 400, "came through a proxy"),
        ({"note": "x" * 2001}, {}, 400, "the note is longer than 2,000 characters"),
        ({"note": "x" * (1 << 17)}, {}, 413, "cannot be answered"),
    ],
)
def test_no_mark_comes_from_elsewhere_or_says_what_cannot_be_said(
    reviewed: tuple[Warehouse, FlaskClient], change: dict[str, str], headers: dict[str, str], code: int, said: str
) -> None:
    tables, client = reviewed
    form = form_in(asked(client, "/finding?id=f1")) | {"state": "seen"} | change
    answer = client.post("http://127.0.0.1/review", data=form, headers=headers)
    assert answer.status_code == code
    assert said in answer.text
    assert tables.rows("reviews") == []


HEADER = "X-Forwarded-User"


def test_a_mark_bears_the_name_that_the_proxy_gives_and_no_other(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    reviewing = Reviewing(partial(mark, tables), user_header=HEADER, proxies=frozenset({"10.0.0.9"}))
    client = shown.dashboard(tables, reviewing=reviewing).test_client()

    def sent(form: dict[str, str], peer: str, **headers: str) -> int:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        place = {"REMOTE_ADDR": peer}
        return client.post("http://127.0.0.1/review", data=form, headers=given, environ_base=place).status_code

    page = Reader(client.get("http://127.0.0.1/finding?id=f1", headers={HEADER: "ann"}).text)
    form = form_in(page) | {"state": "seen", "reviewer": "eve"}
    assert sent(form, "127.0.0.1") == 400, "nobody is named"
    assert sent(form, "127.0.0.1", X_Forwarded_User="x" * 101) == 400
    assert sent(form, "127.0.0.1", X_Forwarded_User="eve") == 400, "the form is ann's"
    assert sent(form, "10.0.0.8", X_Forwarded_User="ann") == 400, "that machine is no proxy"
    assert form_in(asked(client, "/finding?id=f1")) == {}, "who is not named reads alone"
    assert tables.rows("reviews") == []
    assert sent(form, "10.0.0.9", X_Forwarded_User="ann") == 303
    assert [row["reviewer"] for row in tables.rows("reviews")] == ["ann"]


@pytest.mark.parametrize("more", [["--host", "10.0.0.1"], ["--base-path", "/e"], ["--allow-host", "ops.example.com"]])
def test_marks_of_nobody_known_are_not_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    filled(tmp_path / "w")
    assert main(["dashboard", "--warehouse", str(tmp_path / "w"), "--allow-review", *more]) == 1
    assert "--user-header NAME" in capsys.readouterr().err


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Warehouse, FlaskClient]:
    """A dashboard in which findings can be marked."""
    tables = filled(tmp_path_factory.mktemp("reviewed") / "w")
    return tables, shown.dashboard(tables, reviewing=Reviewing(partial(mark, tables), "Ann")).test_client()
