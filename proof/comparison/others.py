"""This project on data that others made: their logs and traces, their truth.

python -m proof.comparison.others CLONES           # CLONES/OWNER+NAME is a clone (or its git directory, as .../repo)
python -m proof.comparison.others CLONES --write   # the same as docs/others.md

Nothing is fetched. ``others.toml`` names the commits; what is not there is passed over and told. Traces become
canonical events: who leads, follows or asks for votes in which term. A lock is a group that its holder leads.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
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
KINDS = {role: f"RAFT_TO_{role.upper()}" for role in ("leader", "follower", "candidate")}
HOLDS, RELEASES = "TOLD_LEADS", "TOLD_FOLLOWS"
TICK_MS = 10
"""The time from one line to the next where the order of lines is all that is known, or more than their times."""

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
    """Land and judge the files of one data set, each as a cluster of its own, or together where their pattern names
    one."""
    with tempfile.TemporaryDirectory() as scratch, closing(LocalEngine(cores=1)) as engine:
        landing, began = Path(scratch) / "landing", time.monotonic()
        clusters = files_of(clone, data)
        for cluster, paths in clusters.items():
            text = "".join(git(clone, "show", f"{data['commit']}:{path}") for path in paths)
            for node, name, content in READERS[data["reads"]](text):
                logs = landing / cluster / "nodes" / node / "logs"
                logs.mkdir(parents=True)
                (logs / name).write_text(content, encoding="utf-8")
        tables = Warehouse(f"{scratch}/warehouse")
        look(engine, str(landing), tables, Config(**data.get("settings", {})), Path(scratch))
        published = Published(tables)
        leaders = published.rows(LEADERS)[0]["n"]
        asked = data.get("asks")
        found = [row for row in published.rows(FOUND) if asked is None or row["rule"] in asked]
        return Judged(sum(map(len, clusters.values())), leaders, found, time.monotonic() - began)


def files_of(clone: Path, data: dict[str, Any]) -> dict[str, list[str]]:
    """Return the files of a data set in its commit, by a name for their cluster."""
    clusters: dict[str, list[str]] = {}
    for path in git(clone, "ls-tree", "-r", "--name-only", data["commit"]).splitlines():
        if found := re.search(data["files"], path):
            cluster = found.groupdict().get("cluster") or path.rpartition(".")[0]
            clusters.setdefault(re.sub(r"[^\w.-]+", "-", cluster), []).append(path)
    return clusters


Files = Iterator[tuple[str, str, str]]
"""(node, name, content) of the files in which a cluster's members speak."""


def written(events: Iterable[dict[str, Any]]) -> Files:
    """Yield a file of canonical events for each member."""
    of_node: dict[str, list[str]] = {}
    for event in events:
        of_node.setdefault(event["node"], []).append(json.dumps(event))
    for node, lines in of_node.items():
        yield node, "raft.events.jsonl", "\n".join(lines) + "\n"


def role(at: str | int, node: str, name: str, term: int | None) -> dict[str, Any]:
    """Return the event of a member that becomes a leader, a follower or a candidate."""
    return {"kind": KINDS[name], "event_time": at, "replica_group": "raft", "node": node, "term": term}


def hold(at: str | int, client: str, lock: str, term: int | None) -> dict[str, Any]:
    """Return the event of a client that gets a lock, for the ``term``-th time that anybody does, or has it no more."""
    kind = RELEASES if term is None else HOLDS
    event = {"kind": kind, "protocol": "described", "event_time": at, "replica_group": lock, "node": f"client-{client}"}
    return event | ({} if term is None else {"term": term})


def by_line(number: int) -> int:
    """Return the time of a line in ms where only the order of lines counts."""
    return 1_700_000_000_000 + TICK_MS * number


def logs(text: str) -> Files:
    """A log of a known system."""
    yield "jvm", "zookeeper.log", text


def traces(text: str) -> Files:
    """A trace of a Raft library, as its TLA+ model reads it."""

    def events() -> Iterator[dict[str, Any]]:
        for line in text.splitlines():
            told = json.loads(line)
            event = told.get("event") or {}
            name = event.get("name", "").removeprefix("Become").lower()
            if event.get("name", "").startswith("Become") and name in KINDS:
                at = told["ts"] if isinstance(told["ts"], str) else round(told["ts"] * 1000)  # zap's epoch seconds
                yield role(at, event["nid"], name, event["state"]["term"])

    return written(events())


def interactions(text: str) -> Files:
    """A dialogue of tests with etcd's Raft library; it has no times."""
    became = re.compile(r"\s*(?:INFO|DEBUG) (\w+) became (leader|follower|candidate) at term (\d+)")
    found = ((number, became.match(line)) for number, line in enumerate(text.splitlines(), 1))
    return written(role(by_line(number), of[1], of[2], int(of[3])) for number, of in found if of)


def lock_server(text: str) -> Files:
    """The log of P's example of a lock server: one process answers all, so the order of lines is that of the answers.
    A release that is refused also shows that its client does not hold the lock."""
    answer = re.compile(
        r"=RESPONSE, ClientID=(\d+), LockID=(\d+), TransactionType=(LOCK|RELEASE), TransactionID=(\d+), Result=(\w+)"
    )

    def events() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(text.splitlines(), 1):
            found = answer.search(line)
            if found and (found[3], found[5]) != ("LOCK", "FAIL"):
                term = int(found[4]) if found[3] == "LOCK" else None
                yield hold(by_line(number), found[1], f"lock-{found[2]}", term)

    return written(events())


def pgo(text: str) -> Files:
    """Traces of programs that PGo compiled from TLA+: steps with what they read and wrote, in order of their ends. Who
    has the lock has it from the end of one step to the beginning of another."""

    def events() -> Iterator[dict[str, Any]]:
        terms: dict[str, int] = {}
        grants = 0
        for step in sorted(map(json.loads, text.splitlines()), key=lambda step: step["endTime"]):
            writes = {
                (element["name"]["name"], *element["indices"]): element["value"].strip('"')
                for element in step["csElements"]
                if element["tag"] == "write" and not step["isAbort"]
            }
            terms |= {key[1]: int(value) for key, value in writes.items() if key[0] == "currentTerm"}
            for (name, *of), value in writes.items():
                if name == "state":
                    yield role(step["endTime"], of[0], value, terms.get(of[0]))
                elif name == "hasLock":
                    grants += value == "TRUE"
                    got = value == "TRUE"
                    yield hold(step["endTime" if got else "startTime"], of[0], "lock", grants if got else None)

    return written(events())


READERS = {reader.__name__: reader for reader in (logs, traces, interactions, lock_server, pgo)}


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
        "names by commit. Nothing of them is shipped here: some state no licence. What is found is what is above "
        "information. A lock counts as a group that its holder leads. Where only the order of lines is known, or is "
        f"known better than their times, one counts as {TICK_MS} ms."
    )
    yield ""
    yield "| data | commit | licence | what its makers know | files | leaders told | found | missed | seconds |"
    yield "|---|---|---|---|---|---|---|---|---|"
    why = []
    told = tomllib.loads(manifest.read_text(encoding="utf-8"))
    for data in told["data"]:
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
    for text in (*why, *told.get("not_judged", ())):
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
