"""The commands that serve agents, and tell people what is new."""

import click

from election_replay.jobs.cli.extras import needing
from election_replay.jobs.cli.options import warehouse_option
from election_replay.jobs.cli.output import print_line
from election_replay.jobs.reading.words import SEVERITIES


@click.command()
@click.option(
    "--warehouse",
    metavar="DIR",
    envvar="ELECTION_REPLAY_WAREHOUSE",
    help="Folder of the Delta tables; or ELECTION_REPLAY_WAREHOUSE. Without one, only `look` and the rules answer.",
)
def mcp(warehouse: str | None) -> None:
    """Serve agents on standard input and output by the Model Context Protocol: read only, with small answers.

    \b
    Example
      election-replay mcp --warehouse /data/warehouse
    """
    with needing("mcp"):
        from election_replay.jobs.mcp_server import server

    server(warehouse).run()


@click.command()
@warehouse_option
@click.option(
    "--to",
    required=True,
    metavar="URL",
    envvar="ELECTION_REPLAY_NOTIFY",
    help="An address of Apprise: slack://, msteams://, pagerduty://, mailtos://, jsons://; or ELECTION_REPLAY_NOTIFY.",
)
@click.option(
    "--least", type=click.Choice(SEVERITIES), default="warning", show_default=True, help="How grave at least."
)
@click.option("--dashboard", metavar="URL", help="Where the dashboard is: each finding is told with its page.")
@click.option("--picture", is_flag=True, help="Attach the report of the gravest one's group, with its picture.")
def notify(warehouse: str, to: str, least: str, dashboard: str | None, picture: bool) -> None:
    """Tell a chat, a pager or a webhook which findings are new, in one message; nothing new: none, and nothing twice.

    New is what was first found by a run after the one that this address was told of last.

    \b
    Example
      election-replay notify --warehouse W --to slack://TOKEN --dashboard https://ops.example.com/elections
    """
    with needing("chat"):
        from election_replay.jobs.notify import notify as tell_what_is_new
    from election_replay.jobs.warehouse.warehouse import Warehouse

    count = tell_what_is_new(Warehouse(warehouse), to, least, dashboard, picture=picture)
    print_line(f"Told of {count:,} new findings." if count else "Nothing is new: nothing was sent.")
