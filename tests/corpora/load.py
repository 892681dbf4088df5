"""The corpus as a data set: ``for run in runs(Path("tests/corpora")): ...``. It needs nothing but Python."""

import json
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HELD_OUT = "other-clusters"
"""The archive of clusters that were made after the rules: what is measured on it was not fitted to it."""


class Run(NamedTuple):
    """One cluster: its ``system/run``, its split, its ``run.json`` with the labels, and its files, path -> bytes."""

    name: str
    split: str
    label: dict[str, Any]
    files: dict[str, bytes]

    @property
    def logs(self) -> dict[str, bytes]:
        """The input: the log files alone. All else is truth."""
        return {path: data for path, data in self.files.items() if path.startswith("nodes/") and "/logs/" in path}

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The objects of ``truth.jsonl`` (what was done) or ``observed.jsonl`` (what each node said of itself)."""
        return [json.loads(line) for line in self.files.get(name, b"").splitlines()]


def runs(folder: Path) -> Iterator[Run]:
    """All runs of the archives in a folder."""
    for archive in sorted(folder.glob("*.tar.xz")):
        yield from runs_of(archive)


def runs_of(archive: Path) -> Iterator[Run]:
    """The runs of one archive."""
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            system, run, path = (*member.name.split("/", 2), "", "")[:3]
            if member.isfile() and path and (file := tar.extractfile(member)):
                found.setdefault(f"{system}/{run}", {})[path] = file.read()
    split = "test" if archive.name.startswith(HELD_OUT) else "train"
    for name, files in sorted(found.items()):
        yield Run(name, split, json.loads(files["run.json"]), files)


if __name__ == "__main__":
    for each in runs(Path(sys.argv[1])):
        count = sum(data.count(b"\n") for data in each.logs.values())
        sys.stdout.write(f"{each.split}\t{each.name}\t{len(each.logs)}\t{count}\n")
