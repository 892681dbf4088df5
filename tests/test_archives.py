"""Archives unpack on every Python that the README names, and lead nowhere else."""

import io
import tarfile
from pathlib import Path

import pytest

from tests.archives import unpack


def packed(path: Path, *members: tuple[str, bytes]) -> Path:
    """An archive of files, or of links where the type says so."""
    with tarfile.open(path, "w") as tar:
        for name, kind in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO())
    return path


@pytest.fixture(params=["as this Python does it", "as Python 3.11.2 does it"])
def _python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "3.11.2" in request.param:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


@pytest.mark.usefixtures("_python")
def test_files_and_folders_are_unpacked(tmp_path: Path) -> None:
    unpack(packed(tmp_path / "a.tar", ("run", tarfile.DIRTYPE), ("run/nodes/n.log", tarfile.REGTYPE)), tmp_path / "to")
    assert (tmp_path / "to/run/nodes/n.log").is_file()


@pytest.mark.usefixtures("_python")
@pytest.mark.parametrize(
    ("name", "kind"), [("../out", tarfile.REGTYPE), ("a/../../out", tarfile.REGTYPE), ("link", tarfile.SYMTYPE)]
)
def test_nothing_leads_out(tmp_path: Path, name: str, kind: bytes) -> None:
    archive = packed(tmp_path / "a.tar", (name, kind))
    with pytest.raises(tarfile.TarError):
        unpack(archive, tmp_path / "to" / "here")
    assert not [path for path in tmp_path.rglob("*") if path.name in {"out", "link"}]
