"""Archives that somebody mailed, unpacked into a folder of our own; they are hostile.

Only regular files come out, each below the folder, under a name without ``..``; links, devices and whatever else an
archive may hold are passed over and told. So is what would come to more bytes or files than are allowed, and a file
that says it is an archive and is none.
"""

import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from election_replay.jobs.landing.landing_zone import Skip, Skipped, printable

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
PACKED = (".zip", *TARS)
"""How the names of archives end."""

NOT_UNPACKED = (".7z", ".rar", ".tar.zst", ".cab")
"""How the names of those end that nothing here can unpack."""

DEPTH = 3
"""Archives in archives, no deeper."""

CHUNK = 1 << 20
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)
"""What an archive that is damaged, encrypted or none at all raises, of whatever kind."""


@dataclass(slots=True)
class Bounds:
    """How much may come out of all archives together: bytes and files that are left."""

    size: int = 20 << 30
    files: int = 200_000


class TooMuchError(Exception):
    """More would come out than is allowed."""


def is_archive(name: str) -> bool:
    """Whether a file is an archive, by its name."""
    return name.lower().endswith(PACKED)


def unpack(archive: Path, shown: str, into: Path, bounds: Bounds, skip: Skip, depth: int = 1) -> None:
    """Unpack an archive, and archives in it, below the folder ``into``; ``shown`` is its path for people."""
    try:
        for name, source in members(archive, shown, skip):
            target = into / name
            take(source, target, bounds)
            if is_archive(target.name):
                inner, packed = f"{shown}/{name}", target.with_name(f"{target.name}.packed")
                target.rename(packed)
                if depth < DEPTH:
                    unpack(packed, inner, target, bounds, skip, depth + 1)
                else:
                    skip(Skipped(inner, f"an archive in {DEPTH} archives"))
                packed.unlink()
    except TooMuchError:
        skip(Skipped(shown, "it holds more than is unpacked: unpack it and give the folder"))
    except BROKEN as error:
        skip(Skipped(shown, f"it cannot be unpacked to its end: {error_text(error)}"))


def members(archive: Path, shown: str, skip: Skip) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files in an archive, by clean paths, each open."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if info.is_dir():
                    continue
                if (info.external_attr >> 16) & 0o170000 not in (0, 0o100000):
                    skip(Skipped(f"{shown}/{printable(info.filename)}", "it is no plain file", harmless=True))
                elif (name := clean(info.filename)) is None:
                    skip(Skipped(f"{shown}/{printable(info.filename)}", "its path leads out of the archive"))
                else:
                    with packed.open(info) as source:
                        yield name, source
        return
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.isdir():
                continue
            found = packed.extractfile(member) if member.isreg() else None
            if found is None:
                skip(Skipped(f"{shown}/{printable(member.name)}", "it is no plain file", harmless=True))
            elif (name := clean(member.name)) is None:
                skip(Skipped(f"{shown}/{printable(member.name)}", "its path leads out of the archive"))
            else:
                yield name, found


def clean(name: str) -> str | None:
    """A path below a folder, or ``None`` for one that leads elsewhere or cannot be a path."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part not in ("", ".")]
    bad = any(part == ".." or "\x00" in part or len(os.fsencode(part)) > 200 for part in parts)
    return None if bad or path.is_absolute() or not parts or ":" in parts[0] else "/".join(parts)


def take(source: IO[bytes], target: Path, bounds: Bounds) -> None:
    """Write one file, as far as the bounds allow. Raises :class:`TooMuchError`."""
    bounds.files -= 1
    if bounds.files < 0:
        raise TooMuchError
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as out:
        while chunk := source.read(CHUNK):
            bounds.size -= len(chunk)
            if bounds.size < 0:
                raise TooMuchError
            out.write(chunk)


def error_text(error: BaseException) -> str:
    """What an error says, on one line."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__
