"""The command line. Each command is one job; errors are one line that says what to do next."""

import gc
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice

import click

from election_replay.jobs import ONE_THREAD, POLARS_THREADS, JobError
from election_replay.jobs.cli.arrow_alone import arrow_alone
from election_replay.jobs.cli.ending import STOPPED, end_when_told, stopped_by
from election_replay.jobs.cli.export import export
from election_replay.jobs.cli.learn import config, inspect, rules, simulate
from election_replay.jobs.cli.log import ERR, FORMATS, for_machines, log_as, log_event
from election_replay.jobs.cli.look import look
from election_replay.jobs.cli.pipeline import forget, land, plan_replay, publish, replay, run, upkeep, validate
from election_replay.jobs.cli.read import diff, explain, incident, metrics, report, sql, whois
from election_replay.jobs.cli.review import review
from election_replay.jobs.cli.servers import airflow, dashboard, mcp, notify
from election_replay.jobs.faults import readable, user_message
from election_replay.jobs.reading.words import harmless

GROUPS = {
    "Pipeline": (run, land, plan_replay, replay, validate, publish, upkeep, forget),
    "Read": (look, sql, incident, explain, report, diff, review, whois, metrics, export),
    "Serve": (dashboard, mcp, notify),
    "Learn": (rules, config, inspect, simulate, airflow),
}
"""What the help lists, by what people come for."""


GARBAGE = 100_000
"""So many new objects are looked through for circles at once: what is imported holds none, and is a tenth of a short
command."""


class InGroups(click.Group):
    """Commands listed by what they are for; what is nearly a name is answered with the name."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Each group with its commands, a line each."""
        width = max(len(command.name or "") for commands in GROUPS.values() for command in commands)
        for title, commands in GROUPS.items():
            with formatter.section(title):
                limit = formatter.width - 6 - width
                formatter.write_dl(
                    [(f"{command.name:<{width}}", command.get_short_help_str(limit)) for command in commands]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for. Raises :class:`click.UsageError` with those that are called nearly so."""
        if args and self.get_command(ctx, args[0]) is None:
            near = get_close_matches(args[0], self.commands, 3, 0.5)
            meant = f" Did you mean {' or '.join(near)}?" if near else " `election-replay --help` lists them."
            raise click.UsageError(f"there is no command {args[0]}.{meant}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=InGroups, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="election-replay")
@click.option("--debug", is_flag=True, help="Show stack traces and Spark's own messages; works on every command.")
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default="text",
    envvar="ELECTION_REPLAY_LOG_FORMAT",
    help="What a command says while it works: text, or a JSON object a line on standard error; works on every command.",
)
def cli(debug: bool, log_format: str) -> None:
    """Replay broker and controller logs: who led what and when, and what went wrong.

    \b
    Start with
      election-replay run --landing logs --warehouse warehouse
    where the logs of cluster C and node N lie in logs/C/nodes/N/logs/.
    """
    context = click.get_current_context()
    context.obj = debug
    log_as(log_format, command=context.invoked_subcommand)


for commands in GROUPS.values():
    for command in commands:
        cli.add_command(command)


def fail(*lines: str, code: int = 1) -> int:
    """Say what went wrong; the exit code."""
    if for_machines():
        log_event("\n".join(lines), logging.ERROR)
    else:
        ERR.print("error: " + "\n".join(map(harmless, lines)), soft_wrap=True)
    return code


def general_first(given: Sequence[str]) -> list[str]:
    """The words of a command line, with the options of every command before the command."""
    general: list[str] = []
    rest: list[str] = []
    words = iter(given)
    for word in words:
        if word == "--log-format":
            general += [word, *islice(words, 1)]
        else:
            (general if word == "--debug" or word.startswith("--log-format=") else rest).append(word)
    return general + rest


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 for success, 1 for an error, 2 for a wrong line, 3 for a failed gate.

    It is 4 for files that could not be read, 130 after Ctrl-C and 143 after SIGTERM.
    """
    given = list(sys.argv[1:] if args is None else args)
    if args is None:
        os.environ.setdefault(POLARS_THREADS, ONE_THREAD)
        arrow_alone()
        gc.set_threshold(GARBAGE)
        end_when_told()
    log_as("text")
    try:
        return int(cli.main(general_first(given), prog_name="election-replay", standalone_mode=False) or 0)
    except BaseException as error:  # noqa: BLE001 - what is not known is raised again
        if number := stopped_by(error):
            return fail("stopped; run the same command again to go on", code=STOPPED + number)
        return ended_by(error, debug="--debug" in given)


def ended_by(error: BaseException, *, debug: bool) -> int:
    """Say why a command failed; its exit code."""
    match error:
        case click.ClickException():
            error.message = harmless(error.message, keep="\t\n")  # type: ignore[misc] # click would show it as it is
            error.show()
            return error.exit_code
        case BrokenPipeError():
            sys.stdout = None  # nobody reads on, so nothing is left to flush
            return 1
        case JobError():
            fail(*([means] if (means := user_message(error)) else map(str, error.args)))
            return error.exit_code
        case Exception() if not debug:  # the last resort: a line instead of a stack trace
            fault = f"{readable(error)} (a fault of the pipeline or of the machine: --debug shows more)"
            return fail(user_message(error) or fault)
        case _:
            raise error


if __name__ == "__main__":
    sys.exit(main())
