"""This project beside other ways to judge the same real runs: what each finds, misses, claims falsely and costs.

python -m proof.comparison CORPORA             # real runs below CORPORA, each with its run.json
python -m proof.comparison CORPORA --write     # the same as docs/comparison.md

Porcupine and TLC take part where --histories (built of rivals/histories) and --tla (a jar with TLC) name them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from election_replay.jobs.showing.markdown import prose
from proof.comparison.questions import LEAST_S, Question, answers

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "comparison.md"
TRACED = ("etcd/chaos-36", "etcd/kill-leader-35", "etcd/isolate-leader-34")
"""The runs whose lines TLC explains."""

INTRODUCTION = """Made by `make compare`. Each way to judge runs over the same real runs, as one process, on two cores
that had other work too; what each claims is held against the `run.json` of each run, which says what happened and what
must not be claimed. What run.json leaves open counts neither way: short times (a claim is made from {least} s on, must
be made from 6 s on and is false below 1 s), and losses in runs whose messages nobody counted at the end. Seconds are of
the wall clock, megabytes are the largest resident set."""

Claims = set[tuple[str, Question]]


@dataclass(frozen=True, slots=True)
class Rival:
    """A way to judge runs."""

    name: str
    command: tuple[str, ...]
    reads: str
    code: tuple[str, ...]
    asks: tuple[Question, ...]
    made: str
    leaves_out: str
    better: str

    @property
    def lines(self) -> int:
        """Lines of its own code."""
        return sum(len(file.read_text().splitlines()) for pattern in self.code for file in ROOT.glob(pattern))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process cost."""

    seconds: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Score:
    """What a rival claimed of one question, beside the answers."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    false: tuple[str, ...]


def rivals() -> list[Rival]:
    """All rivals, in the order of the page."""
    return [
        Rival(
            entry["name"],
            tuple(entry["command"]),
            entry["reads"],
            tuple(entry["code"]),
            tuple(Question(text) for text in entry["asks"]),
            *(" ".join(entry[part].split()) for part in ("made", "leaves_out", "better")),
        )
        for entry in tomllib.loads((HERE / "rivals.toml").read_text())["rival"]
    ]


def measured(command: Iterable[str], places: Mapping[str, str]) -> tuple[str, Cost]:
    """What a command prints, and what it and its children cost. A command that fails ends this program."""
    began = time.monotonic()
    called = [part.format_map(places) for part in command]
    with subprocess.Popen(called, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout  # noqa: S101 - it is a pipe
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(called)} ended with {process.returncode}")
    return said, Cost(time.monotonic() - began, used.ru_maxrss / 1024)


def claims_in(said: str) -> Claims:
    """The claims that a rival printed."""
    return {(run, Question(question)) for run, _, question in (line.partition("\t") for line in said.splitlines())}


def score(claims: Claims, question: Question, truth: Mapping[str, Mapping[Question, bool | None]]) -> Score:
    """What the claims say of a question in all runs."""
    claimed = {run for run, asked in claims if asked == question}
    wanted = [run for run in sorted(truth) if truth[run][question]]
    return Score(
        tuple(run for run in wanted if run in claimed),
        tuple(run for run in wanted if run not in claimed),
        tuple(run for run in sorted(claimed) if truth[run][question] is False),
    )


def cell(rival: Rival, question: Question, scored: Score) -> str:
    """A cell of the table of findings."""
    if question not in rival.asks:
        return "not asked"
    false = f", {len(scored.false)} false" if scored.false else ""
    return f"{len(scored.found)} of {len(scored.found) + len(scored.missed)}{false}"


def section(rival: Rival, scores: Mapping[Question, Score]) -> list[str]:
    """What stands on the page about a rival."""
    lines = ["", f"## {rival.name[:1].upper()}{rival.name[1:]}", "", *prose(rival.made)]
    lines += ["", *prose(f"What its figures leave out: {rival.leaves_out}")]
    if rival.better:
        lines += ["", *prose(f"The better choice when: {rival.better}")]
    for question in rival.asks:
        for word, runs in (("missed", scores[question].missed), ("false alarm", scores[question].false)):
            if runs:
                lines += ["", *prose(f"{question}, {word}: {', '.join(runs)}.", "- ")]
    return lines


def page(
    judged: Mapping[Rival, tuple[Cost, Claims]],
    landing: Cost,
    truth: Mapping[str, Mapping[Question, bool | None]],
    traced: tuple[str, Cost] | None,
) -> str:
    """docs/comparison.md."""
    scores = {
        rival: {question: score(claims, question, truth) for question in Question}
        for rival, (_, claims) in judged.items()
    }
    lines = ["# Other ways to judge the same runs", "", *prose(INTRODUCTION.replace("\n", " ").format(least=LEAST_S))]
    lines += ["", f"{len(truth)} runs. Found, of those that must be found, and false alarms:", ""]
    lines += ["| | " + " | ".join(rival.name for rival in judged) + " |", "|---" * (len(judged) + 1) + "|"]
    lines += [
        f"| {question} | " + " | ".join(cell(rival, question, scores[rival][question]) for rival in judged) + " |"
        for question in Question
    ]
    lines += ["", "| | reads | seconds | megabytes | lines of its own |", "|---|---|---|---|---|"]
    lines += [f"| landing | raw logs | {landing.seconds:.1f} | {landing.megabytes:.0f} | this project |"]
    for rival, (cost, _) in judged.items():
        cells = (rival.name, rival.reads, f"{cost.seconds:.1f}", f"{cost.megabytes:.0f}", rival.lines or "this project")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", *prose("Whoever reads events needs landing first: its time comes on top.")]
    for rival in judged:
        lines += section(rival, scores[rival])
    return "\n".join([*lines, *(trace_section(*traced) if traced else ()), ""])


def trace_section(said: str, cost: Cost) -> list[str]:
    """What stands on the page about TLC."""
    text = """Trace validation: the rules of Raft's elections, written anew in some 60 lines of TLA+
([EtcdTrace.tla](../proof/comparison/rivals/trace/EtcdTrace.tla)), and the lines of each member in its own order. TLC
looks for an order of all lines that the rules allow, so that it believes no clock. Each run was tried once more with a
forged line in which a voter says that it won the term, too."""
    leaves = """What it leaves out: one run at a time, its members' roles and votes only, no times: neither how long
nobody led nor how long two did. The states grow with the product of the members' lines: these few hundred come of a few
dozen lines of a run. The better choice when: you own the specification and can log what it needs: then TLC checks the
design too, and a refused trace is a defect of one of the two."""
    table = [
        "| run | TLC says |",
        "|---|---|",
        *("| " + line.replace("\t", " | ") + " |" for line in said.splitlines()),
    ]
    figures = f"All of them: {cost.seconds:.1f} s, {cost.megabytes:.0f} MB (JVM and all)."
    return [
        "",
        "## TLC",
        "",
        *prose(" ".join(text.split())),
        "",
        *table,
        "",
        figures,
        "",
        *prose(" ".join(leaves.split())),
    ]


def tell(line: str) -> None:
    """Say how far the comparison is."""
    sys.stderr.write(f"{line}\n")


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m proof.comparison", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpora", type=Path, help="a folder of systems, each with its runs")
    parser.add_argument("--histories", type=Path, help="Porcupine over histories, built by Go")
    parser.add_argument("--tla", type=Path, help="a jar of the tools of TLA+")
    parser.add_argument("--write", action="store_true", help="write docs/comparison.md")
    asked = parser.parse_args()
    corpora = asked.corpora.resolve()
    truth = {
        f"{described.parents[1].name}/{described.parent.name}": answers(described.parent)
        for described in sorted(corpora.glob("*/*/run.json"))
    }
    with tempfile.TemporaryDirectory() as events:
        places = {"python": sys.executable, "corpora": str(corpora), "events": events}
        places |= {
            name: str(path.resolve()) for name, path in (("histories", asked.histories), ("tla", asked.tla)) if path
        }
        _, landing = measured(["{python}", "-m", "proof.comparison.rivals.landed", "{corpora}", "{events}"], places)
        judged: dict[Rival, tuple[Cost, Claims]] = {}
        for rival in rivals():
            if "{histories}" in rival.command and not asked.histories:
                continue
            tell(rival.name)
            said, cost = measured(rival.command, places)
            judged[rival] = cost, claims_in(said)
        traced = None
        if asked.tla:
            tell("TLC")
            traced = measured(["{python}", "-m", "proof.comparison.rivals.trace", "{tla}", "{events}", *TRACED], places)
    text = page(judged, landing, truth, traced)
    if asked.write:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
