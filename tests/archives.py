"""Archives of logs, unpacked without trust: by Python's own filter, or by the same rules where it has none yet."""

import sys
import tarfile
from pathlib import Path


def unpack(archive: Path, root: Path) -> None:
    """Unpack an archive below ``root``; raises :class:`tarfile.TarError` for what would lead out of it.

    Debian 12 has Python 3.11.2, and filters came with 3.11.4.
    """
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(root, filter="data")
        else:
            tar.extractall(root, members=[plain(member) for member in tar])  # noqa: S202 - each is looked at


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member that is a file or a folder below the place where it is unpacked; nothing else is in our archives."""
    path = Path(member.name)
    if not (member.isreg() or member.isdir()) or path.is_absolute() or ".." in path.parts:
        raise tarfile.TarError(f"{member.name} is no plain file or folder below the place where it is unpacked")
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def unpack_all(folder: Path, root: Path) -> None:
    """Unpack all archives of a folder below ``root``."""
    for archive in sorted(folder.glob("*.tar.xz")):
        unpack(archive, root)


if __name__ == "__main__":
    unpack_all(Path(sys.argv[1]), Path(sys.argv[2]))
