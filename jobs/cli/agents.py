"""The command that serves agents."""

import click

from election_replay.jobs.cli.extras import needing


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
