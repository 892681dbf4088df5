"""Unpacks mailed archives into a folder of our own; the archives are taken to be hostile.

Only regular files come out, each below the folder, under a name without ``..``. Links, devices and other kinds of
members are skipped and reported. A member that cannot be written or read is skipped and reported too, and the others
still come out. An archive that holds more bytes or members than allowed is reported, and so is a file that has an
archive's name but is none.
"""

import io
import lzma
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_binary_file
from email.policy import default
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from election_replay.jobs.landing.landing_zone import Skip, Skipped, printable

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
LETTER = ".eml"
PACKED = (".zip", *TARS, LETTER)
"""The endings of the names of archives that are unpacked."""

NOT_UNPACKED = (".7z", ".rar", ".tar.zst", ".cab")
"""The endings of the names of archives that nothing here can unpack."""

DEPTH = 3
"""How deep archives may nest."""

CHUNK = 1 << 20
GB = 1_000_000_000
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)
"""The exceptions that reading a damaged or encrypted archive, or a file that is no archive, raises."""


MOST_MEMBERS = 200_000
"""How many members (files, folders, links) all archives together may hold."""
LONGEST_NAME = 200
"""The longest allowed name of a file or folder, in bytes: file systems allow 255, and a suffix may be added to it."""


@dataclass(slots=True)
class Bounds:
    """How many bytes (``size``) and members may still come out of all archives together; both are counted down.

    ``bytes_named`` is the text that names the limit of bytes in a message.
    """

    size: int
    members: int = MOST_MEMBERS
    bytes_named: str = "is unpacked"

    @classmethod
    def of_disk(cls, folder: Path) -> "Bounds":
        """Return bounds of half the bytes that are free where ``folder`` lies: the other half is for what is made of
        the logs."""
        half = shutil.disk_usage(folder).free // 2
        return cls(
            half, bytes_named=f"the {half / GB:,.1f} GB that may be unpacked, half of what is free in {folder} (TMPDIR)"
        )


class TooMuchError(Exception):
    """Raised when more bytes or members would come out than is allowed; its text names the limit."""


def is_archive(name: str) -> bool:
    """Return True when a file's name is that of an archive that can be unpacked."""
    return name.lower().endswith(PACKED)


class Member(NamedTuple):
    """One member of an archive; ``open`` opens its content, and is None unless the member is a regular file."""

    name: str
    open: Callable[[], IO[bytes] | None] | None
    folder: bool = False


def unpack(archive: Path, shown: str, into: Path, bounds: Bounds, skip: Skip, depth: int = 1) -> None:
    """Unpack an archive, and the archives in it, below the folder ``into``; ``shown`` is its path for messages.

    Of two members of one name the last one counts, as with ``tar``, which appends newer ones. What does not come out is
    passed to ``skip``; nothing is raised for it.
    """
    taken: set[Path] = set()
    try:
        for member in members(archive, bounds):
            if member.folder:
                continue
            at = f"{shown}/{printable(member.name)}"
            if member.open is None:
                skip(Skipped(at, "it is no plain file", harmless=True))
                continue
            try:
                target = into / clean(member.name)
                if target in taken:
                    target.unlink()
                    skip(Skipped(at, "the archive holds it more than once: the last one is read"))
                take(member.open, target, bounds)
            except BROKEN as error:
                skip(Skipped(at, f"it cannot be unpacked: {error_text(error)}"))
                continue
            taken.add(target)
            if is_archive(target.name):
                packed = target.rename(target.with_name(f"{target.name}.packed"))
                if depth < DEPTH:
                    unpack(packed, at, target, bounds, skip, depth + 1)
                else:
                    skip(Skipped(at, f"an archive in {DEPTH} archives"))
                packed.unlink()
    except TooMuchError as error:
        skip(Skipped(shown, f"it holds more than {error}: unpack it and give the folder"))
    except BROKEN as error:
        skip(Skipped(shown, f"it cannot be unpacked to its end: {error_text(error)}"))


def members(archive: Path, bounds: Bounds) -> Iterator[Member]:
    """Yield the members of an archive, and count them against the bounds.

    Raises :class:`TooMuchError`, and one of :data:`BROKEN` where the archive is damaged.
    """
    is_mail = archive.name.removesuffix(".packed").lower().endswith(LETTER)
    found = in_mail(archive) if is_mail else in_zip(archive) if zipfile.is_zipfile(archive) else in_tar(archive)
    for member in found:
        bounds.members -= 1
        if bounds.members < 0:
            raise TooMuchError(f"{MOST_MEMBERS:,} members")
        yield member


def in_zip(archive: Path) -> Iterator[Member]:
    """Yield the members of a zip file."""
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            plain = (info.external_attr >> 16) & 0o170000 in (0, 0o100000)
            yield Member(info.filename, partial(packed.open, info) if plain else None, info.is_dir())


def in_mail(archive: Path) -> Iterator[Member]:
    """Yield the attachments of a mail and its text, which is the HTML body where there is no plain one."""
    with archive.open("rb") as file:
        letter = message_from_binary_file(file, policy=default)
    body = letter.get_body(("plain", "html"))
    for part in letter.walk():
        name = part.get_filename()
        if (name or part is body) and not part.is_multipart():
            content = part.get_payload(decode=True)
            text = content if isinstance(content, bytes) else b""
            yield Member(name or f"mail.{part.get_content_subtype()}.txt", partial(io.BytesIO, text))


def in_tar(archive: Path) -> Iterator[Member]:
    """Yield the members of a tar file.

    Raises ValueError where the file is damaged behind a member: ``tarfile`` takes that for the end of the archive.
    """
    with tarfile.open(archive) as packed:
        for info in packed:
            yield Member(info.name, partial(packed.extractfile, info) if info.isreg() else None, info.isdir())
        if packed.fileobj is not None:
            packed.fileobj.seek(packed.offset)
            if (packed.fileobj.read(tarfile.BLOCKSIZE) or b"").strip(b"\0"):
                raise ValueError(f"it is damaged behind member {len(packed.getmembers())}")


def clean(name: str) -> str:
    """Return a member's name as a relative path with ``/`` between its parts.

    Raises ValueError for a name that leads out of the folder, that cannot be a path, or that has too long a part.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part not in ("", ".")]
    if path.is_absolute() or not parts or ":" in parts[0] or any(part == ".." or "\x00" in part for part in parts):
        raise ValueError("its path leads out of the archive")
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in parts):
        raise ValueError(f"its name is longer than {LONGEST_NAME} bytes")
    return "/".join(parts)


def take(opened: Callable[[], IO[bytes] | None], target: Path, bounds: Bounds) -> None:
    """Write the content of one member to ``target``, which must not exist. Raises :class:`TooMuchError`."""
    source = opened()
    if source is None:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, target.open("xb") as out:
        while chunk := source.read(CHUNK):
            bounds.size -= len(chunk)
            if bounds.size < 0:
                raise TooMuchError(bounds.bytes_named)
            out.write(chunk)


def error_text(error: BaseException) -> str:
    """Return the first line of an error's text, or the name of its type where it has none."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__
