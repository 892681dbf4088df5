"""The command line. Each command is one job; an error is one line that says what to do next."""

import gc
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice

import click

from election_replay.jobs import ONE_THREAD, POLARS_THREADS, JobError
from election_replay.jobs.cli.arrow_alone import skip_pandas
from election_replay.jobs.cli.ending import STOPPED, ending_signal, install_signal_handlers
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
"""The commands by the sections of the help."""


GC_THRESHOLD = 100_000
"""The threshold of new objects for a garbage collection: imports make no cyclic garbage, and collections during them
take a tenth of a short command."""


class InGroups(click.Group):
    """A group that lists its commands by section and suggests names for a misspelt command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write each section with its commands, one a line."""
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
        """Return the command. Raises :class:`click.UsageError` with similar names if there is none."""
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
    help="Progress as text, or as one JSON object per line on standard error; works on every command.",
)
def cli(debug: bool, log_format: str) -> None:
    """Replay logs of brokers and controllers: who led what and when, and what went wrong.

    \b
    Start with
      election-replay run --landing logs --warehouse warehouse
    where logs/C/nodes/N/logs/ holds the logs of node N of cluster C.
    """
    context = click.get_current_context()
    context.obj = debug
    log_as(log_format, command=context.invoked_subcommand)


for commands in GROUPS.values():
    for command in commands:
        cli.add_command(command)


def fail(*lines: str, code: int = 1) -> int:
    """Print or log an error and return the exit code."""
    if for_machines():
        log_event("\n".join(lines), logging.ERROR)
    else:
        ERR.print("error: " + "\n".join(map(harmless, lines)), soft_wrap=True)
    return code


def global_options_first(given: Sequence[str]) -> list[str]:
    """Return the arguments with the global options moved before the command."""
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
    """Run a command and return its exit code.

    The code is 0 for success, 1 for an error, 2 for a wrong command line, 3 for a failed gate, 4 for files that could
    not be read, 5 for a look that found what ``--fail-on`` names, 130 after Ctrl-C and 143 after SIGTERM.
    """
    given = list(sys.argv[1:] if args is None else args)
    if args is None:
        os.environ.setdefault(POLARS_THREADS, ONE_THREAD)
        skip_pandas()
        gc.set_threshold(GC_THRESHOLD)
        install_signal_handlers()
    log_as("text")
    try:
        return int(cli.main(global_options_first(given), prog_name="election-replay", standalone_mode=False) or 0)
    except BaseException as error:  # noqa: BLE001 - unknown errors are raised again
        if number := ending_signal(error):
            return fail("stopped; run the same command again to go on", code=STOPPED + number)
        return report_failure(error, debug="--debug" in given)


def report_failure(error: BaseException, *, debug: bool) -> int:
    """Print or log why a command failed and return its exit code; errors that should show a trace are raised again."""
    match error:
        case click.ClickException():
            error.message = harmless(error.message, keep="\t\n")  # type: ignore[misc] # click prints it unescaped
            error.show()
            return error.exit_code
        case BrokenPipeError():
            sys.stdout = None  # the reader is gone: a flush at exit would fail
            return 1
        case JobError():
            fail(*([means] if (means := user_message(error)) else map(str, error.args)))
            return error.exit_code
        case Exception() if not debug:  # a line instead of a stack trace
            fault = f"{readable(error)} (a fault of the pipeline or of the machine: --debug shows more)"
            return fail(user_message(error) or fault)
        case _:
            raise error


if __name__ == "__main__":
    sys.exit(main())
