"""The commands ``dashboard``, ``mcp``, ``notify`` and ``airflow``."""

from functools import partial
from pathlib import Path

import click

from election_replay.jobs import JobError
from election_replay.jobs.cli.extras import requiring_extra
from election_replay.jobs.cli.options import warehouse_option
from election_replay.jobs.cli.output import print_line
from election_replay.jobs.reading.words import SEVERITIES


@click.command()
@warehouse_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option(
    "--base-path", default="", metavar="PATH", help="The path under which a proxy serves the dashboard: /elections."
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another host name that browsers may use, besides this machine's own; may be repeated.",
)
@click.option(
    "--allow-review", is_flag=True, help="Let readers mark findings (seen, false alarm, ticket, note) in the browser."
)
@click.option(
    "--user-header",
    default="",
    metavar="NAME",
    help="The header in which the proxy passes the user's name, such as X-Forwarded-User; marks carry that name.",
)
@click.option(
    "--proxy",
    multiple=True,
    metavar="ADDRESS",
    help="The IP address of that proxy if it runs on another machine; may be repeated.",
)
def dashboard(
    warehouse: str,
    host: str,
    port: int,
    base_path: str,
    allow_host: tuple[str, ...],
    allow_review: bool,
    user_header: str,
    proxy: tuple[str, ...],
) -> None:
    """Serve the published state to browsers. It has an inbox of findings, groups, lanes, log lines, rules and runs.

    The dashboard needs no Spark, contacts no other machine, and changes nothing except marks of findings with
    --allow-review. Anyone who reaches it may read everything. So it listens on this machine only, unless --host says
    otherwise, and answers only to this machine's own names and those of --allow-host. A mark carries the name that a
    proxy passes in --user-header; the proxy must drop that header where a browser sends it. Without a proxy, a mark
    carries the name of the user that started the dashboard, and only this machine can set marks. The command needs the
    extra packages of `pip install 'election-replay[dashboard]'`.

    \b
    Examples
      election-replay dashboard --warehouse /data/warehouse
      election-replay dashboard --warehouse /data/warehouse --base-path /elections --allow-host ops.example.com \\
        --allow-review --user-header X-Forwarded-User
    """
    from election_replay.jobs.warehouse.warehouse import Warehouse

    with requiring_extra("dashboard"):
        from election_replay.jobs.review import mark, operator
        from election_replay.jobs.showing.dashboard import dashboard as application
        from election_replay.jobs.showing.dashboard import serve as answer
        from election_replay.jobs.showing.dashboard_review import Reviewing, is_loopback
    tables = Warehouse(warehouse)
    reviewing = None
    if allow_review:
        if not user_header and (not is_loopback(host) or base_path or allow_host):
            raise JobError(
                "anybody could mark under your name: with another --host, --base-path or --allow-host give the "
                "header in which the proxy says who asks (--user-header NAME)"
            )
        name = "" if user_header else operator()
        reviewing = Reviewing(partial(mark, tables), name, user_header, frozenset(proxy))
    app = application(tables, base_path, allow_host, reviewing)
    shown = f"[{host}]" if ":" in host else host
    base = f"{base_path.strip('/')}/" if base_path.strip("/") else ""
    print_line(f"Open http://{shown}:{port}/{base} in a browser; Ctrl-C ends it.")
    try:
        answer(app, host, port)
    except OSError as error:
        raise JobError(f"cannot listen on {shown}:{port}: {error.strerror or error}") from None


@click.command()
@click.option(
    "--warehouse",
    metavar="DIR",
    envvar="ELECTION_REPLAY_WAREHOUSE",
    help="Folder of the Delta tables; or ELECTION_REPLAY_WAREHOUSE. Without one, only `look` and the rules answer.",
)
def mcp(warehouse: str | None) -> None:
    """Serve agents by the Model Context Protocol. It uses standard input and output, reads only, and answers briefly.

    \b
    Example
      election-replay mcp --warehouse /data/warehouse
    """
    with requiring_extra("mcp"):
        from election_replay.jobs.mcp_server import server

    server(warehouse).run()


@click.command()
@warehouse_option
@click.option(
    "--to",
    required=True,
    metavar="URL",
    envvar="ELECTION_REPLAY_NOTIFY",
    help="An Apprise URL: slack://, msteams://, pagerduty://, mailtos://, jsons://; or ELECTION_REPLAY_NOTIFY.",
)
@click.option(
    "--least",
    type=click.Choice(SEVERITIES),
    default="warning",
    show_default=True,
    help="The lowest severity to report.",
)
@click.option("--dashboard", metavar="URL", help="The dashboard's address: the message links each finding to its page.")
@click.option(
    "--picture", is_flag=True, help="Attach the report on the group of the gravest finding, with its picture."
)
def notify(warehouse: str, to: str, least: str, dashboard: str | None, picture: bool) -> None:
    """Send new findings to a chat, a pager or a webhook. All are in one message, and nothing is sent twice.

    A finding is new if it was first found by a run after the last run that this address was told about. If nothing is
    new, no message is sent.

    \b
    Example
      election-replay notify --warehouse W --to slack://TOKEN --dashboard https://ops.example.com/elections
    """
    with requiring_extra("chat"):
        from election_replay.jobs.notify import notify as tell_what_is_new
    from election_replay.jobs.warehouse.warehouse import Warehouse

    count = tell_what_is_new(Warehouse(warehouse), to, least, dashboard, picture=picture)
    print_line(f"Told of {count:,} new findings." if count else "Nothing is new: nothing was sent.")


DAGS = Path(__file__).parents[2] / "airflow_dags" / "election_replay.py"
"""The file with the DAGs, both in a checkout and in an installation."""


@click.group()
def airflow() -> None:
    """Show what Airflow needs from this installation."""


@airflow.command("dag-path")
def dag_path() -> None:
    """Print the path of the file with the DAGs, to copy or link into Airflow's DAG folder.

    \b
    Example
      ln -s "$(election-replay airflow dag-path)" ~/airflow/dags/
    """
    click.echo(DAGS)
