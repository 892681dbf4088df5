"""The DAGs of election-replay: nightly, backfill, and weekly upkeep.

They submit jobs by spark-submit and import nothing of the pipeline: Airflow's Spark provider brings a `pyspark` of its
own, so Airflow and the pipeline have separate environments. Environment variables of the scheduler and its workers
configure them:

    ELECTION_REPLAY_HOME        the checkout or installation that holds jobs/ and conf/
    ELECTION_REPLAY_LANDING     the landing zone
    ELECTION_REPLAY_WAREHOUSE   the Delta tables
    ELECTION_REPLAY_PYTHON      the Python of the pipeline's environment
    SPARK_SUBMIT                its spark-submit; default: beside that Python
    ELECTION_REPLAY_CONFIG      the settings, a file such as conf/pipeline.yaml, or none for the defaults; no default
    ELECTION_REPLAY_PROFILE     Spark profile; default: conf/spark/local.conf
    ELECTION_REPLAY_WEBHOOK     gets a message when a task has failed for good; default: none

The Spark master is the Airflow connection `spark_default`. The pool `election_replay`, of one slot, must exist.
"""

import json
import logging
import os
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, CronDataIntervalTimetable, Param
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.task.trigger_rule import TriggerRule

HOME = Path(os.environ.get("ELECTION_REPLAY_HOME", Path(__file__).resolve().parent.parent))
PYTHON = os.environ.get("ELECTION_REPLAY_PYTHON", str(HOME / ".venv/bin/python"))
SPARK_SUBMIT = os.environ.get("SPARK_SUBMIT", str(Path(PYTHON).parent / "spark-submit"))
PROFILE = os.environ.get("ELECTION_REPLAY_PROFILE", str(HOME / "conf/spark/local.conf"))
CONFIG = os.environ.get("ELECTION_REPLAY_CONFIG")
SETTINGS = ["--config", CONFIG] if CONFIG else []
"""Without them, steps that need settings fail with a message: they do not search a worker's folder for a file."""

LANDING = os.environ.get("ELECTION_REPLAY_LANDING", "/data/landing")
WAREHOUSE = os.environ.get("ELECTION_REPLAY_WAREHOUSE", "/data/warehouse")
POOL = "election_replay"

EVENTS = Asset(name="election_replay.silver.events")
GOLD = [
    Asset(name=f"election_replay.gold.{table}")
    for table in (
        "terms",
        "elections",
        "role_intervals",
        "sync_state_sets",
        "lock_holds",
        "metadata_versions",
        "findings",
        "rule_coverage",
    )
]

AS_OF = "{{ data_interval_end | default(dag_run.run_after) | ts }}"
"""The template of the end of the night; a manual run may have no data interval."""

log = logging.getLogger(__name__)


def tell(context: dict[str, Any]) -> None:
    """Report a task that failed after all retries, in the log and to the webhook if there is one."""
    task = context["task_instance"]
    text = (
        f"election-replay: {task.dag_id}.{task.task_id} failed in run {task.run_id}. Its log names the rows or the "
        f"reason; docs/operations.md says what to do. {getattr(task, 'log_url', '')}"
    )
    log.error(text)
    hook = os.environ.get("ELECTION_REPLAY_WEBHOOK")
    if hook:
        request = Request(hook, json.dumps({"text": text}).encode(), {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request, timeout=10):  # noqa: S310 - the operator's own address
            pass


STATES = {"3": "gate", "4": "unread"}
"""The states for exit codes: a gate failed, or something in the landing zone could not be read."""
EXIT_CODE = re.compile(r"Error code is: (\d+)")


class Step(SparkSubmitOperator):
    """A job by spark-submit that pushes how it ended to XCom (`state`: done, gate, unread or failed).

    A failed gate is not retried, as it would fail again; other failures are.
    """

    def execute(self, context: Any) -> None:
        """Run the job and push its state."""
        task = context["ti"]
        try:
            super().execute(context)
        except AirflowException as error:
            code = EXIT_CODE.search(str(error))
            state = STATES.get(code[1] if code else "", "failed")
            task.xcom_push(key="state", value=state)
            if state == "gate":
                raise AirflowFailException(str(error)) from error
            raise
        task.xcom_push(key="state", value="done")


DEFAULTS = {
    "pool": POOL,
    "retries": 2,
    "retry_delay": timedelta(minutes=5),
    "retry_exponential_backoff": True,
    "execution_timeout": timedelta(hours=6),
    "on_failure_callback": tell,
}

COMMON: dict[str, Any] = {
    "start_date": datetime(2026, 1, 1),  # noqa: DTZ001 - the timetable has the zone
    "catchup": False,
    "max_active_runs": 1,
    "dagrun_timeout": timedelta(hours=20),
    "default_args": DEFAULTS,
    "render_template_as_native_obj": True,
    "tags": ["election-replay"],
}


def step(job: str, *arguments: str, chosen: str = "", task_id: str | None = None, **more: Any) -> Step:
    """Return the task of one job. ``chosen`` is a template expression that gives a list of further arguments."""
    fixed = ["--warehouse", WAREHOUSE, *arguments]
    return Step(
        task_id=task_id or job,
        conn_id="spark_default",
        application=str(HOME / "jobs" / f"{job}.py"),
        name=f"election-replay-{task_id or job}",
        application_args="{{ " + json.dumps(fixed) + " + " + chosen + " }}" if chosen else fixed,
        properties_file=PROFILE,
        spark_binary=SPARK_SUBMIT,
        env_vars={
            "PYSPARK_PYTHON": PYTHON,
            "PYSPARK_DRIVER_PYTHON": PYTHON,
            "ELECTION_REPLAY_CONFIG_REQUIRED": "Airflow",
        },
        **more,
    )


def night(land_chosen: str = "", replay_chosen: str = "") -> tuple[Step, EmptyOperator]:
    """Create the tasks of a night: land, check, replay, check, publish; return ``publish`` and the last task.

    The last task fails if any of them did. A failed gate does not stop later steps: they hold back the clusters that it
    names and publish the rest. A landing that could not read everything is retried, and does not stop them either.
    """
    go_on = TriggerRule.ALL_DONE_MIN_ONE_SUCCESS
    land = step("land", "--landing", LANDING, *SETTINGS, chosen=land_chosen, outlets=[EVENTS])
    landed = step(
        *("validate", "--new", "--layer", "bronze", "--layer", "silver", "--as-of", AS_OF),
        task_id="validate_landed",
        trigger_rule=TriggerRule.ALL_DONE,
    )
    replay = step("replay", *SETTINGS, "--unpublished", chosen=replay_chosen, trigger_rule=go_on)
    judged = step("validate", "--new", "--layer", "gold", task_id="validate_judged")
    publish = step("publish", trigger_rule=go_on, outlets=GOLD)
    complete = EmptyOperator(task_id="complete", doc_md="Red if any step was red.")
    land >> landed >> replay >> judged >> publish
    land >> replay >> publish
    [land, landed, replay, judged, publish] >> complete
    return publish, complete


with DAG(
    "election_replay_nightly",
    schedule=CronDataIntervalTimetable("0 2 * * *", timezone="UTC"),
    doc_md="""
### Every night: what happened in the elections of the last day?

`land -> validate_landed -> replay -> validate_judged -> publish -> upkeep`

Lands what is new in the landing zone, however old it is, and judges the affected clusters. Readers see the result when
`publish` is done, for all tables at once.

**When `land` is red** with exit code 4, its log names what could not be read. Everything else is landed, judged and
published, and the next run tries again.

**When `validate_landed` or `validate_judged` is red** its log names the clusters and the rows; `gold/validations` and
`data_docs/` in the warehouse show the same. Those clusters keep their published state, all others are published, and
the next run tries them again. A run by hand (trigger) does the same as the schedule: nothing is landed twice.
""",
    **COMMON,
):
    published, complete = night()
    upkeep = step("upkeep")
    published >> upkeep >> complete


def options(params: dict[str, Any], *names: str) -> list[str]:
    """Return command line options for the parameters that are set."""
    found = []
    for name in names:
        values = params[name] if isinstance(params[name], list) else [params[name]]
        found += [part for value in values if value for part in (f"--{name.removesuffix('s')}", str(value))]
    return found


with DAG(
    "election_replay_backfill",
    schedule=None,
    params={
        "from": Param(None, type=["null", "string"], format="date", description="First night, UTC; empty: no limit."),
        "to": Param(None, type=["null", "string"], format="date", description="Last night, UTC; empty: no limit."),
        "clusters": Param([], type="array", items={"type": "string"}, description="Clusters; empty: all."),
    },
    user_defined_macros={"options": options},
    doc_md="""
### Judge chosen nights again

Lands what is new for the clusters, then judges every cluster that has events in these nights again. A cluster is judged
as a whole, because its history decides what a night means. The result is the same as if all logs had come on time. This
DAG is safe beside the nightly run: both share the pool, and chosen clusters are not judged while a whole night waits to
be published (the task tries again).
""",
    **COMMON,
):
    night("options(params, 'clusters')", "options(params, 'from', 'to', 'clusters')")


with DAG(
    "election_replay_upkeep",
    schedule=CronDataIntervalTimetable("0 12 * * 0", timezone="UTC"),
    doc_md="""
### Every week: join small files and remove unneeded ones

Joins small files and removes files that no run of the last 30 days names. What is published stays readable. Afterwards
every gate checks the whole warehouse.
""",
    **COMMON,
):
    step("upkeep") >> step("validate")
