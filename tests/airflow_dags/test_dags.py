"""The DAGs as Airflow reads them: wiring, schedules, policies, and the exact command lines."""

import ast
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.task.trigger_rule import TriggerRule

FOLDER = Path(__file__).parents[2] / "airflow_dags"
STEPS = ["land", "validate_landed", "replay", "validate_judged", "publish"]


@pytest.fixture(scope="module")
def bag() -> DagBag:
    return DagBag(str(FOLDER))


def test_they_parse(bag: DagBag) -> None:
    assert bag.import_errors == {}
    assert set(bag.dags) == {"election_replay_nightly", "election_replay_backfill", "election_replay_upkeep"}


def test_they_import_nothing_of_ours() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                assert top == "airflow" or top in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_every_task_has_a_pool_a_limit_and_a_voice(bag: DagBag) -> None:
    for dag in bag.dags.values():
        assert dag.doc_md
        assert dag.max_active_runs == 1
        assert not dag.catchup
        for task in dag.tasks:
            assert task.pool == "election_replay", task.task_id
            assert task.execution_timeout == timedelta(hours=6)
            assert task.on_failure_callback


def test_the_nightly_way(bag: DagBag) -> None:
    dag = bag.dags["election_replay_nightly"]
    assert {task.task_id for task in dag.tasks} == {*STEPS, "upkeep", "complete"}
    for before, after in zip(STEPS, [*STEPS[1:], "upkeep"], strict=True):
        assert after in dag.get_task(before).downstream_task_ids
    assert dag.get_task("complete").upstream_task_ids == {*STEPS, "upkeep"}
    assert dag.get_task("complete").trigger_rule == TriggerRule.ALL_SUCCESS
    assert [task.task_id for task in dag.leaves] == ["complete"], "what fails must show in the run's own state"


def test_a_failed_gate_stops_nothing_but_a_failed_step_does(bag: DagBag) -> None:
    """But for a landing that failed: some of its files could not be read, the others are judged. If it did nothing at
    all there is nothing new to judge, and without a warehouse its gate fails too.
    """
    dag = bag.dags["election_replay_nightly"]
    looked_at = {"validate_landed": TriggerRule.ALL_DONE, "validate_judged": TriggerRule.ALL_SUCCESS}
    for step, gate, after in (("land", "validate_landed", "replay"), ("replay", "validate_judged", "publish")):
        task = dag.get_task(after)
        assert task.upstream_task_ids == {step, gate}
        assert task.trigger_rule == TriggerRule.ALL_DONE_MIN_ONE_SUCCESS
        assert dag.get_task(gate).upstream_task_ids == {step}
        assert dag.get_task(gate).trigger_rule == looked_at[gate]


@pytest.mark.parametrize(
    ("code", "state", "again"),
    [(0, "done", None), (3, "gate", False), (4, "unread", True), (1, "failed", True), (143, "failed", True)],
)
def test_a_gate_is_not_tried_again_but_a_machine_is(
    bag: DagBag, monkeypatch: pytest.MonkeyPatch, code: int, state: str, again: bool | None
) -> None:
    """And other tasks see how a step ended."""
    task = bag.dags["election_replay_nightly"].get_task("publish")
    assert task.retries == 2

    def execute(*_: object) -> None:
        if code:
            raise AirflowException(f"Cannot execute: spark-submit. Error code is: {code}. ")

    monkeypatch.setattr(SparkSubmitOperator, "execute", execute)
    pushed: dict[str, str] = {}

    class Instance:
        def xcom_push(self, key: str, value: str) -> None:
            pushed[key] = value

    if again is None:
        task.execute({"ti": Instance()})
    else:
        with pytest.raises(AirflowException) as caught:
            task.execute({"ti": Instance()})
        assert isinstance(caught.value, AirflowFailException) is not again
    assert pushed == {"state": state}


def test_a_run_has_a_deadline(bag: DagBag) -> None:
    assert {dag.dagrun_timeout for dag in bag.dags.values()} == {timedelta(hours=20)}


def test_a_night_is_a_data_interval(bag: DagBag) -> None:
    assert "CronDataIntervalTimetable" in type(bag.dags["election_replay_nightly"].timetable).__name__
    assert "CronDataIntervalTimetable" in type(bag.dags["election_replay_upkeep"].timetable).__name__


def test_tables_are_assets(bag: DagBag) -> None:
    dag = bag.dags["election_replay_nightly"]
    assert [asset.name for asset in dag.get_task("land").outlets] == ["election_replay.silver.events"]
    published = {asset.name for asset in dag.get_task("publish").outlets}
    assert {"election_replay.gold.findings", "election_replay.gold.terms"} <= published


def test_the_command_line_of_a_step(bag: DagBag) -> None:
    task = bag.dags["election_replay_nightly"].get_task("land")
    command = task._get_hook()._build_spark_submit_command(task.application)
    assert command[0].endswith("/spark-submit")
    assert command[command.index("--properties-file") + 1].endswith("conf/spark/local.conf")
    assert command[-7].endswith("/jobs/land.py")
    places = [os.environ[f"ELECTION_REPLAY_{name}"] for name in ("WAREHOUSE", "LANDING", "HOME")]
    settings = os.environ["ELECTION_REPLAY_CONFIG"]
    assert command[-6:] == ["--warehouse", places[0], "--landing", places[1], "--config", settings]
    assert task.env_vars["ELECTION_REPLAY_CONFIG_REQUIRED"] == "Airflow"


def test_the_settings_are_read_wherever_airflow_runs(bag: DagBag) -> None:
    for name in ("nightly", "backfill"):
        for step in ("land", "replay"):
            assert "--config" in bag.dags[f"election_replay_{name}"].get_task(step).application_args


def test_without_settings_a_step_ends_with_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELECTION_REPLAY_CONFIG")
    bag = DagBag(str(FOLDER))
    assert bag.import_errors == {}
    for dag in ("nightly", "backfill"):
        for step in ("land", "replay"):
            task = bag.dags[f"election_replay_{dag}"].get_task(step)
            assert "--config" not in task.application_args
            assert task.env_vars["ELECTION_REPLAY_CONFIG_REQUIRED"] == "Airflow"
    python = os.environ["ELECTION_REPLAY_PYTHON"]
    given = ["replay", "--warehouse", "W"]
    environment = os.environ | task.env_vars | {"PYTHONPATH": os.environ["ELECTION_REPLAY_HOME"]}
    done = subprocess.run(
        [python, "-m", "election_replay.jobs.cli", *given], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: no settings are named, and ELECTION_REPLAY_CONFIG_REQUIRED is set (Airflow)")


@pytest.mark.parametrize(
    ("given", "land", "replay"),
    [
        ({}, [], []),
        (
            {"from": "2026-03-01", "to": "2026-03-03", "clusters": ["a", "b c"]},
            ["--cluster", "a", "--cluster", "b c"],
            ["--from", "2026-03-01", "--to", "2026-03-03", "--cluster", "a", "--cluster", "b c"],
        ),
    ],
)
def test_a_backfill_hands_its_parameters_on(bag: DagBag, given: dict, land: list[str], replay: list[str]) -> None:
    dag = bag.dags["election_replay_backfill"]
    context = {"params": dag.params.dump() | given, **dag.user_defined_macros}
    for task_id, fixed, wanted in (("land", "--landing", land), ("replay", "--unpublished", replay)):
        task = dag.get_task(task_id)
        rendered = task.render_template(task.application_args, context, dag.get_template_env())
        assert fixed in rendered
        assert rendered[len(rendered) - len(wanted) :] == wanted
