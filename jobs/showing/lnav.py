"""Lines around a finding for lnav, and its formats of the logs that it does not know."""

import json
from importlib.resources import files
from pathlib import Path

from election_replay.jobs import JobError
from election_replay.jobs.showing.raw_lines import RawLines

FORMATS = files("election_replay.jobs.showing").joinpath("lnav.json").read_text(encoding="utf-8")


def write_lnav(found: RawLines, folder: Path) -> None:
    """Write the lines and the formats into a folder. Raises :class:`JobError` where that is not possible."""
    lines = (
        {
            "at": f"{line.at:%Y-%m-%dT%H:%M:%S.%f}Z",
            "node": line.node,
            "level": "proof" if line.proof else "new" if line.new else "line",
            "path": line.path,
            "line_no": line.line_no,
            "text": line.text,
        }
        for line in found.lines
    )
    formats = folder / "formats" / "election_replay"
    try:
        formats.mkdir(parents=True, exist_ok=True)
        (formats / "lnav.json").write_text(FORMATS, encoding="utf-8")
        (folder / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {folder}: {error.strerror}") from None
