"""Secrets that systems print do not come into any table, and nothing else changes."""

import json
import string
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.model.events import Unparsable
from election_replay.jobs.landing.inspection import inspect
from election_replay.jobs.landing.masking import masked, without_secrets
from tests.jobs.zone import Zone, leads, line, noise

SECRET = "Qz7vXw9!hunter"  # noqa: S105 - nobody's


@pytest.mark.parametrize(
    "text",
    [
        "accessKey={}",
        "secretKey = {}",
        "rocketmq.acl.secretKey={}, brokerName=broker-a",
        "acl_secret_key: {}",
        "PASSWORD={}",
        "db.passwd={};user=x",
        "-Djavax.net.ssl.keyStorePassword={} -Xmx4g",
        "--client-secret-key {} --port 1",
        "--password={}",
        'args ["--token","{}"]',
        '{{"user":"u","passWord":"{}","term":3}}',
        '{{"msg":"{{\\"apiKey\\":\\"{}\\",\\"x\\":1}}"}}',
        "{{'api-key': '{}', 'term': 3}}",
        "Config{{accessKey={}, secretKey={}}}",
        "credentials: {}",
        "sessionToken={}&x=1",
        "http://h/p?access_token={}&x=1",
        "http%3A//h/?token%3D{}",
        "Authorization: Bearer {}",
        "Authorization: {}",
        "<password>{}</password>",
        '<property name="trustStorePassword" value="{}"/>',
        "<name>hadoop.Password</name> <value>{}</value>",
        "jdbc:mysql://root:{}@10.0.0.1:3306/db",
        "redis://:{}@h/0",
        "namesrvAddr=admin:{}@10.0.0.1:9876",
        "aws_secret_access_key => {}",
        "pwd={}",
        "passphrase={}",
        "privateKey={}",
        "passwords=[{}, {}]",
        "password={{cipher}}{}",
        'password="{}',
    ],
)
def test_the_value_is_masked_and_all_else_stays(text: str) -> None:
    found = masked(text.format(SECRET, SECRET))
    assert "Qz7" not in found
    assert "hunter" not in found
    shown = text.format("***", "***")
    assert found in {
        shown,
        shown.replace("[***, ***]", "***"),
        shown.replace("{cipher}", ""),
        shown.replace("Bearer ", ""),
    }
    assert masked(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "tls.server.keyPassword = null",
        '"discovery-token":"","discovery-endpoints":""',
        "aclEnable=true, password=, term=5",
        "secretKey= term=5",
        "token ring of 3",
        "key=value, keys=[a, b]",
        "tokens: true",
        "peer http://10.0.0.1:2380 joined http://10.0.0.2:2380,x@y",
        "clientId: 10.0.0.1@12345#67890",
        "clientId:10.0.0.1@DEFAULT, group=a@b",
        "[topic=user_token, brokerName=a, queueId=0]",
        "bypass=10",
        '{"credentials":{"user":"u"}}',
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_json_stays_json() -> None:
    said = json.dumps({"term": 3, "password": SECRET, "pin_token": 1234, "x": {"apiKey": 'a"b\\', "n": None}, "y": [1]})
    found = json.loads(masked(said))
    assert found == {"term": 3, "password": "***", "pin_token": "***", "x": {"apiKey": "***", "n": None}, "y": [1]}


FORMS = ("{}={}", "{} = {}", "{}: {}", '"{}":"{}"', "'{}': '{}'", "a=1, {}={}, b=2", "http://h/?{}={}&b=2", "--{} {}")
KEYS = st.sampled_from(["accessKey", "secretKey", "password", "passwd", "token", "credential", "apiKey", "api_key"])
SAFE = string.ascii_letters + string.digits + "!#$%*+-./@^_~"


@given(
    form=st.sampled_from(FORMS),
    before=st.from_regex(r"([a-z]{1,8}[._-]){0,3}", fullmatch=True),
    key=KEYS,
    case=st.sampled_from([str, str.upper, str.lower, str.capitalize]),
    secret=st.text(SAFE, min_size=8, max_size=40).map(lambda text: f"S3{text}"),
    around=st.tuples(st.text(max_size=20), st.text(max_size=20)),
)
def test_no_secret_survives(form: str, before: str, key: str, case: Any, secret: str, around: tuple[str, str]) -> None:
    text = f"{around[0]} {form.format(before + case(key), secret)} {around[1]}"
    for found in (masked(text), *without_secrets(pl.Series([text]))):
        assert secret not in found
        assert found.endswith(f" {around[1]}") or form == "{}: {}"


@given(st.text("pastoken=:,;\"'\\[]{}<>/@-& %3d", max_size=200))
def test_masking_never_fails_and_once_is_enough(text: str) -> None:
    once = masked(text)
    assert masked(once) == once
    assert without_secrets(pl.Series([text])) == [once]


@pytest.mark.parametrize(
    "piece",
    [
        *("token", "token=", "token:", 'token="', 'token=\\"', "--", "--a", "--token ", "://a:", "=a:", "=a:b@", "\\"),
        *(
            ",a",
            "password=,",
            "password=[",
            "pass ",
            "</name>",
            "token</name> ",
            "bearer ",
            "=a:b@c:",
            "'",
            "a.",
            "key",
        ),
    ],
)
@pytest.mark.parametrize("ahead", ["", "password=", 'password="', "http://u:", "x=u:"])
def test_no_line_is_costly(piece: str, ahead: str) -> None:
    began = time.process_time()
    masked(ahead + piece * (60_000 // len(piece)))
    assert time.process_time() - began < 1


DUMP = "".join(
    line(second, text)
    for second, text in (
        (0, f"accessKey={SECRET}"),
        (10, f"rocketmq.acl.secretKey={SECRET}"),
        (20, f"namesrvAddr=http://admin:{SECRET}@10.0.0.1:9876"),
        (30, json.dumps({"password": SECRET})),
    )
)


def test_no_table_holds_a_secret(zone: Zone) -> None:
    event = leads(40).rstrip("\n")
    zone.write("broker.log", DUMP + f"{event} token={SECRET}\n\tpassword: {SECRET}\n" + noise(50))
    zone.append("broker.log", line(60, f"passwd={SECRET}"))  # the last line, which waits to be a tick
    zone.land()
    zone.append("broker.log", line(80, "x" * 70_000 + f" secret={SECRET}") + leads(90, term=2)[:60])
    zone.append("broker.log", f"password={SECRET} \n")
    zone.land()
    snapshot = zone.root / "c1" / "nodes" / "n1" / "metadata" / "20260301T100000Z" / "topics.json"
    snapshot.parent.mkdir(parents=True)
    snapshot.write_text(f'{{"password":"{SECRET}", broken')
    zone.write("broker.1.log.gz", b"\x1f\x8b\x08\x00 token=" + SECRET.encode())
    zone.land()
    held = json.dumps(zone.tables, default=str)
    assert "Qz7v" not in held
    assert held.count("***") >= 6
    assert zone.tables["quarantine"]


def test_inspect_shows_what_landing_would_keep(tmp_path: Path) -> None:
    file = tmp_path / "broker.log"
    file.write_text(DUMP + leads(40))
    found = inspect(str(file))
    assert found.kinds
    assert "Qz7v" not in repr(found)


def test_masking_changes_no_event_of_real_logs(corpora: Path) -> None:
    """Every line of the real logs that masking touches says the same as before."""
    touched = 0
    for file in sorted(corpora.rglob("nodes/**/*.log")):
        lines = file.read_text("utf-8", "replace").split("\n")
        for before, after in zip(lines, without_secrets(pl.Series(lines)), strict=True):
            if before != after:
                touched += 1
                assert said(file.name, before) == said(file.name, after), before
    assert touched


def said(stream: str, text: str) -> Any:
    dialect = dialect_for(stream) or dialect_for(stream, text)
    try:
        event = dialect.parse(Record(text, (), stream, 0)) if dialect else None
    except Unparsable as error:
        return str(error)
    return event and astuple(event)
