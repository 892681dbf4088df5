"""The commands that need no warehouse: ``rules``, ``simulate``, ``config`` and ``inspect``."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from election_replay.jobs import JobError
from election_replay.jobs.cli.ending import published
from election_replay.jobs.cli.log import OUT
from election_replay.jobs.cli.options import config_option, settings_in_force
from election_replay.jobs.cli.output import WIDE, print_line
from election_replay.jobs.reading.words import harmless

if TYPE_CHECKING:
    from election_replay.jobs.cli.simulate import Simulated
    from election_replay.jobs.landing.inspection import Inspection


@click.command()
@click.option("--markdown", is_flag=True, help="Print a Markdown page like docs/rules.md.")
@click.option("--warehouse", metavar="DIR", help="Add an example of each rule from this warehouse.")
def rules(markdown: bool, warehouse: str | None) -> None:
    """List every rule: what it finds, its severity, its source. It also says how the rule decides.

    \b
    Examples
      election-replay rules
      election-replay rules --markdown --warehouse W
    """
    from election_replay.jobs.showing.rules_page import examples_of, page, plain

    examples = examples_of(published(warehouse)) if warehouse else {}
    for line in (page if markdown else plain)(examples):
        print_line(line)


@click.group()
def config() -> None:
    """Check the settings of the pipeline."""


@config.command("check")
@config_option("file")
def config_check(file: str | None) -> None:
    """Read the settings and show which are in force; an error names file, line and key.

    \b
    Example
      election-replay config check --config conf/pipeline.yaml
    """
    from election_replay.jobs.settings.config import Config

    chosen, usual = settings_in_force(file), asdict(Config())
    for name, value in asdict(chosen.config).items():
        print_line(f"{name}: {value}" + (" (default)" if value == usual[name] else ""))
    print_line(f"{chosen.file} is sound" if chosen.file else "these are the defaults")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--lines", is_flag=True, help="Show each event with its line number and its values.")
@click.option("--top", default=15, show_default=True, help="How many shapes of ignored lines to show.")
@click.option("--zone", type=int, metavar="MINUTES", help="Minutes east of UTC, if not the system's own default.")
def inspect(files: Sequence[str], lines: bool, top: int, zone: int | None) -> None:
    """Show how the pipeline reads log files. It says what each line means, and which lines it ignores.

    \b
    Examples
      election-replay inspect logs/C/nodes/N/logs/broker.log
      election-replay inspect --lines broker_default.log dledger.log.1.gz
    """
    from election_replay.jobs.landing.inspection import inspect as look

    for file in files:
        print_inspection(look(file, zone), lines, top)


def print_inspection(found: "Inspection", lines: bool, top: int) -> None:
    """Print one file: its events by kind, ignored lines by shape, and lines that could not be read."""
    from election_replay.jobs.landing.inspection import meaning, render

    print_line(f"{found.path}: {found.lines:,} lines, stream {found.stream}, {found.read_as}{envelope_text(found)}")
    kinds = Grid("events", "kind", "first line", "meaning", box=None, pad_edge=False, header_style="bold")
    for kind, count in found.kinds.most_common():
        kinds.add_row(f"{count:,}", f"[cyan]{kind}[/]", str(found.first_of_kind[kind]), meaning(kind))
    shapes = Grid("ignored", "example", "shape", box=None, pad_edge=False, header_style="bold")
    for shape, count in found.shapes.most_common(top):
        shapes.add_row(f"{count:,}", f"line {found.example[shape][0]}", escape(harmless(shape)))
    broken = Grid("in quarantine", "why", "text", box=None, pad_edge=False, header_style="bold red")
    for seen in found.quarantined[:top]:
        broken.add_row(f"line {seen.line_no}", escape(harmless(seen.reason or "")), escape(harmless(seen.text[:200])))
    console = Console(highlight=False, markup=True, emoji=False, width=None if OUT.is_terminal else WIDE)
    for grid in (kinds, shapes, broken):
        if grid.row_count:
            console.print(grid)
    if len(found.shapes) > top:
        print_line(f"({len(found.shapes) - top:,} more shapes of ignored lines: --top shows more)")
    if found.problem:
        print_line(found.problem)
    print_unread(found)
    for seen in found.events if lines else ():
        if seen.event is not None:
            print_line(f"{seen.line_no:>8} {seen.event.kind:<24} {render(seen.event)}")


def print_unread(found: "Inspection") -> None:
    """Print why lines of a file were not understood, and their shapes."""
    if found.misunderstood:
        print_line(found.misunderstood)
    for count, shape in found.unread:
        print_line(f"  {count:>5,} lines like {shape}")


def envelope_text(found: "Inspection") -> str:
    """Return text about the envelopes of a file's lines and the nodes that they name; empty without envelopes."""
    if not found.envelope:
        return ""
    nodes = [f"{node} ({count:,} lines)" for node, count in sorted(found.nodes.items()) if node]
    if not nodes:
        return f"; in envelopes ({found.envelope}) that name no node"
    return f"; in envelopes ({found.envelope}) of {', '.join(nodes[:20])}{' and others' if len(nodes) > 20 else ''}"


@click.command()
@click.option("--scenario", metavar="NAME", help="The scenario to run; --list names them all.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same logs, byte for byte.")
@click.option("--out", metavar="DIR", help="Landing zone to write to: logs and truth go to DIR/NAME-SEED/.")
@click.option("--watch", is_flag=True, help="Print what is done, who leads when, and what that breaks.")
@click.option("--judge", "judging", is_flag=True, help="Judge the logs without Spark and compare with the truth.")
@click.option("--list", "listing", is_flag=True, help="List all scenarios and what happens in them.")
def simulate(scenario: str | None, seed: int, out: str | None, watch: bool, judging: bool, listing: bool) -> None:
    """Run an election in a simulated world with known faults. It can write, watch and judge the members' logs.

    Members, clocks, disks and the network are simulated; the members execute the protocols that the rules judge in real
    logs. A safe scenario has faults that the protocol must survive; a broken one has a bug or an operator's error.
    truth.jsonl says who really led when, what was done, and which findings the logs prove.

    \b
    Examples
      election-replay simulate --list
      election-replay simulate --scenario dledger-isolated-leader --watch
      election-replay simulate --scenario dledger-old-copy --seed 7 --out worlds
      election-replay run --landing worlds --warehouse warehouse
    """
    from election_replay.jobs.cli.simulate import simulate as play
    from election_replay.jobs.cli.simulate import write

    if listing:
        print_scenarios()
        return
    if scenario is None or not (out or watch or judging):
        raise JobError("say what to play and what for: --scenario NAME with --out DIR, --watch or --judge; or --list")
    simulated = play(scenario, seed)
    if watch:
        print_line(f"{scenario}, seed {seed}: {simulated.scenario.meaning}")
        for line in simulated.story():
            print_line(line)
    if judging:
        print_score(simulated)
    if out:
        written = write(simulated, out)
        print_line(f"{len(written)} files in {written[-1].parent}; what really happened is in {written[-1]}")


def print_scenarios() -> None:
    """Print all scenarios."""
    from election_replay.election_core.simulate.catalogue import SCENARIOS

    grid = Grid("scenario", "kind", "what happens", box=None, pad_edge=False, header_style="bold")
    for name, scenario in SCENARIOS.items():
        grid.add_row(name, "broken" if scenario.broken else "safe", scenario.meaning)
    (OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False, emoji=False)).print(grid)


def print_score(simulated: "Simulated") -> None:
    """Print the truth, the verdict on the logs, and their differences. Raises :class:`JobError` if there are any."""
    found = simulated.judged()
    print_line("What the logs prove:")
    for true in found.provable or ():
        print_line(f"  {true.rule}: {true.words}")
    print_line("What the judge says, by the logs alone:")
    for finding in found.claimed:
        print_line(f"  {finding.severity} {finding.rule}: {finding.summary}")
    for finding in found.false:
        print_line(f"FALSE CLAIM {finding.rule}: {finding.summary}")
    for true in found.missed:
        print_line(f"MISSED {true.rule}: {true.words}")
    if not found.perfect:
        raise JobError("the verdict is not the truth")
