"""Archives are unpacked into a folder of our own: what is bad in one is told, and everything else comes out."""

import io
import shutil
import tarfile
import zipfile
from dataclasses import replace
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest

from election_replay.jobs.landing.archives import Bounds, unpack
from election_replay.jobs.landing.landing_zone import Skipped
from election_replay.jobs.look import unpack_all

ROOM = Bounds(1 << 30)


def test_hostile_archives_write_nothing_outside_and_are_told(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tar"
    with tarfile.open(bad, "w") as packed:
        for name in ("../escaped", "/absolute", "good/broker.log", "a\x00b"):
            info = tarfile.TarInfo(name)
            info.size = 4
            packed.addfile(info, io.BytesIO(b"text"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    skipped: list[Skipped] = []
    into = tmp_path / "into" / "deep"
    unpack(bad, "bad.tar", into, replace(ROOM), skipped.append)
    found = sorted(
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()
    )
    assert [name for name in found if not name.startswith("into/deep/")] == ["bad.tar"]
    assert "into/deep/good/broker.log" in found
    assert {one.path for one in skipped} >= {"bad.tar/../escaped", "bad.tar/link"}


def test_one_bad_member_is_told_and_all_others_come_out(tmp_path: Path) -> None:
    """A name twice, as ``tar -r`` leaves it, files where folders should be and the other way round, long paths."""
    names = {
        "n1/broker.log": "n1/broker.log",
        "n2": "n2",
        "n2/broker.log": "n2/broker.log",  # below a file
        "n1": "n1",  # where a folder lies
        f"{'x' * 201}/broker.log": "name too long",
        "/".join(["y" * 100] * 50): "path too long",
        "n3/broker.log": "n3/broker.log",
    }
    with tarfile.open(tmp_path / "bad.tar", "w") as packed:
        for name, text in [*names.items(), ("n1/broker.log", "newer"), ("n4/broker.log", "last")]:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text.encode()))
    skipped: list[Skipped] = []
    into = tmp_path / "into"
    unpack(tmp_path / "bad.tar", "bad.tar", into, replace(ROOM), skipped.append)
    found = {str(path.relative_to(into)): path.read_text() for path in into.rglob("*") if path.is_file()}
    assert found == {"n1/broker.log": "newer", "n2": "n2", "n3/broker.log": "n3/broker.log", "n4/broker.log": "last"}
    reasons = {one.path.removeprefix("bad.tar/")[:13]: one.reason.partition(": ")[2][:40] for one in skipped}
    assert set(reasons) == {"n2/broker.log", "n1", "x" * 13, "y" * 13, "n1/broker.log"}
    assert reasons["x" * 13] == "its name is longer than 200 bytes"
    assert "File name too long" in reasons["y" * 13]


def test_a_damaged_member_of_a_zip_file_is_told_and_all_others_come_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as packed:
        for node in ("n1", "n2", "n3"):
            packed.writestr(f"{node}/broker.log", f"text of {node}")
    data = (tmp_path / "bad.zip").read_bytes()
    (tmp_path / "bad.zip").write_bytes(data.replace(b"text of n2", b"xxxx of n2"))
    skipped: list[Skipped] = []
    unpack(tmp_path / "bad.zip", "bad.zip", tmp_path / "into", replace(ROOM), skipped.append)
    assert (tmp_path / "into/n3/broker.log").read_text() == "text of n3"
    assert [one.path for one in skipped] == ["bad.zip/n2/broker.log"]


def test_a_tar_file_that_is_damaged_in_its_middle_is_told(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "bad.tar", "w") as packed:
        for node in ("n1", "n2", "n3"):
            packed.addfile(tarfile.TarInfo(f"{node}/broker.log"), io.BytesIO(b""))
    data = (tmp_path / "bad.tar").read_bytes()
    (tmp_path / "bad.tar").write_bytes(data.replace(b"n2/broker.log", b"xx/broker.log"))
    skipped: list[Skipped] = []
    unpack(tmp_path / "bad.tar", "bad.tar", tmp_path / "into", replace(ROOM), skipped.append)
    assert [(one.path, one.reason[:33]) for one in skipped] == [("bad.tar", "it cannot be unpacked to its end:")]


def test_what_is_unpacked_is_bounded_by_the_room_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2000))
    folder = tmp_path / "mailed"
    folder.mkdir()
    with zipfile.ZipFile(folder / "n1.zip", "w") as packed:
        packed.writestr("broker.log", bytes(1500))
    skipped: list[Skipped] = []
    unpack_all(folder, tmp_path / "unpacked", skipped.append)
    assert [one.path for one in skipped] == ["n1.zip"]
    assert "half of what is free in" in skipped[0].reason


def test_the_members_of_all_archives_are_bounded_folders_too(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "many.tar", "w") as packed:
        for number in range(5):
            folder = tarfile.TarInfo(f"f{number}")
            folder.type = tarfile.DIRTYPE
            packed.addfile(folder)
    skipped: list[Skipped] = []
    unpack(tmp_path / "many.tar", "many.tar", tmp_path / "into", replace(ROOM, members=4), skipped.append)
    assert [one.reason for one in skipped] == ["it holds more than 200,000 members: unpack it and give the folder"]


def test_two_archives_of_one_name_are_two_folders(tmp_path: Path) -> None:
    folder = tmp_path / "mailed"
    folder.mkdir()
    for name, text in (("n1.zip", "one"), ("n1.jar.zip", "two"), ("n1.tar", "three")):
        if name.endswith("zip"):
            with zipfile.ZipFile(folder / name, "w") as packed:
                packed.writestr("broker.log", text)
        else:
            with tarfile.open(folder / name, "w") as made:
                info = tarfile.TarInfo("broker.log")
                info.size = len(text)
                made.addfile(info, io.BytesIO(text.encode()))
    assert unpack_all(folder, tmp_path / "unpacked", lambda skipped: pytest.fail(str(skipped)))
    assert sorted(path.read_text() for path in (tmp_path / "unpacked").rglob("broker.log")) == ["one", "three", "two"]


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("broker.log", bytes(5_000_000))
    skipped: list[Skipped] = []
    unpack(bomb, "bomb.zip", tmp_path / "into", Bounds(1_000_000), skipped.append)
    assert [one.reason for one in skipped] == ["it holds more than is unpacked: unpack it and give the folder"]
    assert sum(path.stat().st_size for path in (tmp_path / "into").rglob("*")) < 2_000_000


def test_an_archive_in_archives_is_unpacked_but_not_without_end(tmp_path: Path) -> None:
    data = b"text"
    for depth in range(5):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as packed:
            packed.writestr("inner.zip" if depth else "broker.log", data)
        data = made.getvalue()
    (tmp_path / "outer.zip").write_bytes(data)
    skipped: list[Skipped] = []
    unpack(tmp_path / "outer.zip", "outer.zip", tmp_path / "into", replace(ROOM), skipped.append)
    assert [one.reason for one in skipped] == ["an archive in 3 archives"]


@pytest.mark.parametrize("page", [False, True])
def test_a_mail_holds_its_text_and_what_is_attached(page: bool, tmp_path: Path) -> None:
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = "no leader"
    mail.set_content(
        "<pre>voters=(1) é</pre>" if page else "voters=(1) é", "html" if page else "plain", cte="quoted-printable"
    )
    if not page:
        mail.add_alternative("<p>voters=(1)</p>", "html")
    mail.add_attachment(b"attached\n", "text", "plain", filename="etcd.log")
    (tmp_path / "mail.eml").write_bytes(mail.as_bytes())
    skipped: list[Skipped] = []
    unpack(tmp_path / "mail.eml", "mail.eml", tmp_path / "into", replace(ROOM), skipped.append)
    found = {path.name: path.read_text(encoding="utf-8").strip() for path in (tmp_path / "into").iterdir()}
    text = {"mail.html.txt": "<pre>voters=(1) é</pre>"} if page else {"mail.plain.txt": "voters=(1) é"}
    assert found == {"etcd.log": "attached", **text}
    assert not skipped
