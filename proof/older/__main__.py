"""Warehouses that older commits wrote, under today's code, and today's warehouses under older commits.

python -m proof.older                        # five commits, evenly spread over the history
python -m proof.older 3d18b90 056a104        # these
python -m proof.older --engine spark ...     # commits from before the local engine came need Spark

Each commit writes a warehouse of the bundled examples without the log of one node. Today's code reads it, lands that
log, replays, and checks: its verdicts are those of a warehouse that was never another one's, but for those that lines
prove which the commit did not know, and so did not land. Then the commit reads today's warehouse, and tries a night on
it: it goes on, or refuses, and today's next night gives today's verdicts again.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "landing"
COMMITS = 5
LANDED = "SELECT event_id FROM events"
PROVEN = "SELECT cluster, rule, severity, certainty, unnest(evidence) AS event_id FROM findings"
EVERY = ("--limit", "0")
READ = "SELECT cluster, rule, severity, certainty FROM findings ORDER BY ALL"
LATE = "nodes"
"""The node that comes late is the last one below this folder."""


def git(*arguments: str) -> bytes:
    """What git says."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S607


def commits() -> list[str]:
    """Some commits that have a command line, evenly spread, the newest first."""
    known = git("log", "--first-parent", "--format=%h", "--", "jobs/cli").decode().split()
    return known[len(known) // COMMITS - 1 :: len(known) // COMMITS][:COMMITS]


def checkout(commit: str, folder: Path) -> Path:
    """The files of a commit in a folder of its own."""
    place = folder / commit
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as files:
        files.extractall(place)  # noqa: S202 - our own files
    return place


def console(code: Path, *words: str) -> tuple[int, str]:
    """The exit code of a command of the console in a checkout, and what it said."""
    module = "election_replay.jobs.cli.app" if (code / "election_replay" / "jobs").exists() else "jobs.cli.app"
    if not (code / module.replace(".", "/")).with_suffix(".py").exists():
        module = "jobs.cli"
    program = f"import sys; from {module} import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=code,
        env=os.environ | {"PYTHONPATH": str(code)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def zone(folder: Path, *, whole: bool) -> Path:
    """The bundled examples, with or without the last node of each cluster."""
    target = folder / ("whole" if whole else "early")
    shutil.copytree(EXAMPLES, target)
    for cluster in () if whole else sorted(target.iterdir()):
        shutil.rmtree(max((cluster / LATE).iterdir()))
    return target


def night(code: Path, engine: str, landing: Path, warehouse: Path) -> tuple[int, str]:
    """A run of a checkout; the engine is named where the checkout knows more than one."""
    has_engines = any(code.glob("jobs/**/local_engine.py"))
    words = ("--engine", engine) if has_engines else ()
    return console(code, "run", *words, "--landing", str(landing), "--warehouse", str(warehouse))


def rows(code: Path, warehouse: Path, query: str, *options: str) -> str:
    """What a checkout answers, as CSV."""
    code_of, said = console(code, "sql", "--warehouse", str(warehouse), "--format", "csv", *options, query)
    return said if code_of == 0 else f"exit {code_of}: {said.strip().splitlines()[-1]}"


def verdicts(code: Path, warehouse: Path) -> str:
    """What a checkout reads of the findings."""
    return rows(code, warehouse, READ)


def proven_by_unknown(today: Path, old: Path, new: Path) -> set[str]:
    """Verdicts on ``new`` that are proven by lines that were not landed in ``old``: its release did not know them."""
    landed = {*rows(today, old, LANDED, *EVERY).splitlines()}
    proven = (line.rpartition(",") for line in rows(today, new, PROVEN, *EVERY).splitlines())
    return {verdict for verdict, _, event_id in proven if event_id not in landed}


def tried(commit: str, engine: str, folder: Path) -> Iterator[tuple[str, bool, str]]:
    """What was tried with a commit, whether it went well, and what was said."""
    code, today = checkout(commit, folder), ROOT
    early, whole = zone(folder / commit / "zones", whole=False), zone(folder / commit / "zones", whole=True)
    old, new = folder / commit / "old", folder / commit / "new"
    ended, said = night(code, engine, early, old)
    yield "it writes a warehouse", ended == 0, last(said)
    shown = verdicts(today, old)
    yield "today's code reads it", not shown.startswith("exit"), shown
    ended, said = night(today, engine, whole, old)
    yield "today's code goes on with it", ended == 0, last(said)
    ended, said = night(today, engine, whole, new)
    wanted = verdicts(today, new)
    yield "a new warehouse of today", ended == 0 and wanted.count("\n") > 1, f"{wanted.count(chr(10)) - 1} findings"
    other = {*verdicts(today, old).splitlines()} ^ {*wanted.splitlines()}
    unheard = proven_by_unknown(today, old, new)
    yield "the verdicts are the same in both", not other - unheard, "; ".join(sorted(other - unheard))
    if other & unheard:
        yield "it landed no line that proves", True, "; ".join(sorted(other & unheard))
    ended, said = console(today, "validate", "--warehouse", str(old))
    yield "today's gates pass", ended == 0, last(said)
    shown = verdicts(code, new)
    yield "it reads today's warehouse, or refuses in a line", readable(shown), shown
    ended, said = night(code, engine, whole, new)
    yield f"a night of it on today's warehouse ends with {ended}", "Traceback" not in said, last(said)
    ended, said = night(today, engine, whole, new)
    yield "the next night of today's code makes it good", ended == 0 and verdicts(today, new) == wanted, last(said)


def readable(said: str) -> bool:
    """Whether rows were shown, or an error of one line."""
    return not said.startswith("exit") or "Traceback" not in said


def last(said: str) -> str:
    """The last line."""
    return (said.strip().splitlines() or [""])[-1]


def main() -> int:
    """Try some commits; 1 where something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m proof.older", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commits", nargs="*", help="commits; without any, five of the history")
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    asked = parser.parse_args()
    well = True
    for commit in asked.commits or commits():
        with tempfile.TemporaryDirectory() as folder:
            for what, went_well, said in tried(commit, asked.engine, Path(folder)):
                shown = "" if went_well and len(said) > 150 else f": {said}"
                sys.stdout.write(f"{commit} {'well' if went_well else 'WRONG'}: {what}{shown}\n")
                sys.stdout.flush()
                well &= went_well
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
