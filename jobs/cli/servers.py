"""The commands that serve what is published until they are interrupted."""

from functools import partial

import click

from election_replay.jobs import JobError
from election_replay.jobs.cli.ending import it_ends
from election_replay.jobs.cli.extras import needing
from election_replay.jobs.cli.options import settings_in_force, spark_options, warehouse_option
from election_replay.jobs.cli.output import say
from election_replay.jobs.cli.stages import started


@click.command()
@warehouse_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=10000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option(
    "--poll",
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    help="How often to look for a newer run.",
)
@click.option(
    "--timeout",
    default=300,
    show_default=True,
    metavar="SECONDS",
    type=click.IntRange(min=1),
    help="How long a statement may take.",
)
@spark_options
@click.pass_obj
def serve(
    debug: bool, warehouse: str, host: str, port: int, poll: float, timeout: int, config: str | None, master: str | None
) -> None:
    """Serve the published tables and views to BI tools and notebooks: JDBC, ODBC, HiveServer2.

    It answers from the newest published run, and follows publication: each query reads one run, whole. Clients read
    what is published and can do nothing else: statements that write, set, or read anything else are refused, and one
    that takes too long or too much memory is ended alone: each task runs in a process of its own. Another address than
    this machine's own needs authentication.

    \b
    Example
      election-replay serve --warehouse /data/warehouse
      beeline -u jdbc:hive2://127.0.0.1:10000/election_replay -e "SELECT * FROM current"
    """
    with needing("spark"):
        from election_replay.jobs.serve import Endpoint, Server, class_path, home, tasks_apart
    from election_replay.jobs.warehouse.warehouse import Warehouse

    endpoint = Endpoint(host, port, timeout)
    Warehouse(warehouse).last_run()
    settings = settings_in_force(config, master).config
    apart = tasks_apart(master)
    with home():
        spark = started(settings, apart, debug, endpoint.settings | class_path(shipped=apart == master)).session
        server = Server(spark, warehouse)
        try:
            newer = "and each newer run as it is published, until interrupted."
            say(f"Serving run {server.run_id} at {endpoint.url}, {newer}")
            for line in server.follow(poll):
                say(line)
        except KeyboardInterrupt:
            it_ends()
            server.stop()
            say("Stopped.")


@click.command()
@warehouse_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--base-path", default="", metavar="PATH", help="The path below which a proxy shows it: /elections.")
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name under which browsers may ask for it, besides this machine's own; may be repeated.",
)
@click.option(
    "--allow-review", is_flag=True, help="Let readers mark findings (seen, false alarm, ticket, note) in the browser."
)
def dashboard(
    warehouse: str, host: str, port: int, base_path: str, allow_host: tuple[str, ...], allow_review: bool
) -> None:
    """Show what is published in a browser: an inbox of findings, groups, lanes, log lines, rules, runs.

    It needs no Spark, asks no other machine for anything and can change nothing, but for marks of findings with
    --allow-review. It listens on this machine only unless --host says otherwise, and answers only to names that
    --allow-host lists: whoever reaches it may read everything, and mark as anybody where marking is allowed, so that a
    proxy in front of it should ask who they are. It needs the extra packages of
    `pip install 'election-replay[dashboard]'`.

    \b
    Examples
      election-replay dashboard --warehouse /data/warehouse
      election-replay dashboard --warehouse /data/warehouse --base-path /elections --allow-host ops.example.com
    """
    from election_replay.jobs.warehouse.warehouse import Warehouse

    with needing("dashboard"):
        from election_replay.jobs.review import mark
        from election_replay.jobs.showing.dashboard import dashboard as application
        from election_replay.jobs.showing.dashboard import serve as answer
    tables = Warehouse(warehouse)
    app = application(tables, base_path, allow_host, partial(mark, tables) if allow_review else None)
    shown = f"[{host}]" if ":" in host else host
    base = f"{base_path.strip('/')}/" if base_path.strip("/") else ""
    say(f"Open http://{shown}:{port}/{base} in a browser; Ctrl-C ends it.")
    try:
        answer(app, host, port)
    except OSError as error:
        raise JobError(f"cannot listen on {shown}:{port}: {error.strerror or error}") from None
