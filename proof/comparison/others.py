"""This project on data that others made: their logs and traces, their truth.

python -m proof.comparison.others CLONES           # CLONES/OWNER+NAME is a clone (or its git directory, as .../repo)
python -m proof.comparison.others CLONES --write   # the same as docs/others.md

Nothing is fetched. ``others.toml`` names the commits; what is not there is passed over and told. Traces become
canonical events: who leads, follows or asks for votes in which term.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.look import look
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import Config
from election_replay.jobs.showing.markdown import prose
from election_replay.jobs.warehouse.warehouse import Warehouse

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "others.md"
KINDS = {"BecomeLeader": "RAFT_TO_LEADER", "BecomeFollower": "RAFT_TO_FOLLOWER", "BecomeCandidate": "RAFT_TO_CANDIDATE"}
"""What a trace calls a new role, and what events do."""

LEADERS = "SELECT count(*) AS n FROM terms WHERE leader IS NOT NULL"
FOUND = """
    SELECT rule, severity, certainty, cluster, summary FROM findings WHERE severity <> 'info'
    ORDER BY rule, cluster, start_time
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """One row: how many files, how many leaders were told, what was found above information, and how long it took."""

    files: int
    leaders: int
    findings: list[dict[str, Any]]
    seconds: float


def judge(clone: Path, data: dict[str, Any]) -> Judged:
    """Land and judge the files of one data set, each as a cluster of its own."""
    with tempfile.TemporaryDirectory() as scratch, closing(LocalEngine(cores=1)) as engine:
        landing, began = Path(scratch) / "landing", time.monotonic()
        names = list(files_of(clone, data))
        for path, cluster in names:
            text = git(clone, "show", f"{data['commit']}:{path}")
            for node, name, content in (
                nodes_in(text) if data["reads"] == "traces" else [("jvm", "zookeeper.log", text)]
            ):
                logs = landing / cluster / "nodes" / node / "logs"
                logs.mkdir(parents=True)
                (logs / name).write_text(content, encoding="utf-8")
        tables = Warehouse(f"{scratch}/warehouse")
        look(engine, str(landing), tables, Config(), Path(scratch))
        published = Published(tables)
        leaders = published.rows(LEADERS)[0]["n"]
        return Judged(len(names), leaders, published.rows(FOUND), time.monotonic() - began)


def files_of(clone: Path, data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of a data set in its commit, each with a name for its cluster."""
    for path in git(clone, "ls-tree", "-r", "--name-only", data["commit"]).splitlines():
        if re.search(data["files"], path):
            yield path, re.sub(r"[^\w.-]+", "-", path.rpartition(".")[0])


def nodes_in(trace: str) -> Iterator[tuple[str, str, str]]:
    """The members of a trace, each with a file of canonical events."""
    events: dict[str, list[str]] = {}
    for line in trace.splitlines():
        told = json.loads(line)
        event = told.get("event") or {}
        if kind := KINDS.get(event.get("name", "")):
            at = told["ts"] if isinstance(told["ts"], str) else round(told["ts"] * 1000)  # zap's epoch seconds
            row = {"kind": kind, "event_time": at, "replica_group": "raft", "node": event["nid"]}
            events.setdefault(event["nid"], []).append(json.dumps(row | {"term": event["state"]["term"]}))
    for node, lines in events.items():
        yield node, "raft.events.jsonl", "\n".join(lines) + "\n"


def git(clone: Path, *command: str) -> str:
    """What git says in a clone."""
    done = subprocess.run(["git", "-C", clone, *command], capture_output=True, check=True)  # noqa: S607 - the user's
    return done.stdout.decode("utf-8", "replace")


def page(clones: Path, manifest: Path = HERE / "others.toml") -> Iterator[str]:
    """The lines of the page."""
    yield "# On data that others made"
    yield ""
    yield from prose(
        "Made by `make compare OTHERS=CLONES`, from clones of the repositories that `proof/comparison/others.toml` "
        "names by commit. Nothing of them is shipped here: most state no licence. What is found is what is above "
        "information."
    )
    yield ""
    yield "| data | commit | licence | what its makers know | files | leaders told | found | missed | seconds |"
    yield "|---|---|---|---|---|---|---|---|---|"
    why = []
    for data in tomllib.loads(manifest.read_text(encoding="utf-8"))["data"]:
        clone = clones / data["repository"].replace("/", "+")
        clone = clone / "repo" if (clone / "repo").is_dir() else clone
        if not clone.is_dir():
            sys.stderr.write(f"{data['repository']}: not in {clones}\n")
            continue
        done = judge(clone, data)
        rules = [f"{row['rule']} ({row['severity']}, {row['certainty']})" for row in done.findings]
        counts = ", ".join(f"{rules.count(rule)} {rule}" for rule in dict.fromkeys(rules)) or "none"
        missed = ", ".join(f"{cluster}: {rule}" for cluster, rule in missing(data, done)) or "none"
        of = f"| {data['name']} | {data['repository']} {data['commit'][:12]} | {data['licence']} | {data['truth']} "
        yield f"{of}| {done.files} | {done.leaders} | {counts} | {missed} | {done.seconds:.1f} |"
        why += [f"{row['cluster']}, {row['rule']}: {row['summary']}" for row in done.findings]
        why += [data["why"]] if data.get("why") else []
    for text in why:
        yield ""
        yield from prose(text)


def missing(data: dict[str, Any], done: Judged) -> list[tuple[str, str]]:
    """What the makers know, by cluster and rule, and was not found."""
    known = {(row["cluster"], row["rule"]) for row in done.findings}
    return [(cluster, rule) for cluster, rule in data.get("wanted", {}).items() if (cluster, rule) not in known]


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    text = "\n".join(page(asked.clones)) + "\n"
    if asked.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
