"""``notify``: one message with what is new, and nothing twice."""

import base64
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.cli.app import main

LANDING = Path(__file__).parents[2] / "examples" / "landing"

pytestmark = pytest.mark.skipif(find_spec("apprise") is None, reason="NO APPRISE WAS FOUND: the extra `chat` brings it")


class Receiver(HTTPServer):
    """A webhook: what it was told, and whether it refuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hook)
        self.told: list[dict[str, Any]] = []
        self.code = 200

    @property
    def address(self) -> str:
        return f"json://127.0.0.1:{self.server_port}/"


class Hook(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.code == 200:
            self.server.told.append(json.loads(body))
        self.send_response(self.server.code)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_each_night_tells_what_is_new_and_nothing_twice(
    receiver: Receiver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landing, warehouse = tmp_path / "landing", str(tmp_path / "warehouse")
    notify = [
        "notify",
        "--warehouse",
        warehouse,
        "--to",
        receiver.address,
        "--dashboard",
        "https://ops/e/",
        "--picture",
    ]

    def night(cluster: str) -> None:
        shutil.copytree(LANDING / cluster, landing / cluster)
        assert main(["run", "--engine", "local", "--landing", str(landing), "--warehouse", warehouse]) == 0

    night("old-copy-497")
    receiver.code = 500
    assert main(notify) == 1
    assert "nothing was sent" in capsys.readouterr().err
    receiver.code = 200
    assert main(notify) == 0
    [first] = receiver.told
    assert first["type"] == "failure"
    assert first["title"].startswith("election-replay: ")
    assert "critical (proven) TERM_REGRESSION  old-copy-497 / RaftNode04" in first["message"]
    assert "https://ops/e/finding?id=" in first["message"]
    [picture] = first["attachments"]
    assert b"<svg" in base64.b64decode(picture["base64"])
    night("master-cut-off")
    assert main(notify) == 0
    assert main(notify) == 0
    assert "Nothing is new" in capsys.readouterr().out
    _, second = receiver.told
    assert "SPLIT_BRAIN_OVERLAP  master-cut-off / bs-orders" in second["message"]
    assert "old-copy-497" not in second["message"]


def test_what_is_no_address_is_said(cut_off: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify", "--warehouse", cut_off, "--to", "nowhere"]) == 1
    assert "the address is none that Apprise knows" in capsys.readouterr().err
