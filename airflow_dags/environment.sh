# Sourced by make: a local Airflow, in its own environment, over the pipeline in .venv of this checkout.
home=$PWD
unset PYTHONPATH SPARK_HOME PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON
export PATH="$home/.venv-airflow/bin:$PATH" SPARK_LOCAL_IP=127.0.0.1

export AIRFLOW_HOME="${AIRFLOW_HOME:-$home/.airflow}"
export AIRFLOW__CORE__DAGS_FOLDER="$home/airflow_dags" AIRFLOW__CORE__LOAD_EXAMPLES=False
# One step at a time and what waits for it: Airflow would start 32 workers.
export AIRFLOW__CORE__PARALLELISM=4
export AIRFLOW__API__HOST=127.0.0.1 AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS=True
export AIRFLOW_CONN_SPARK_DEFAULT="${AIRFLOW_CONN_SPARK_DEFAULT:-{\"conn_type\": \"spark\", \"host\": \"local[2]\"\}}"

export ELECTION_REPLAY_HOME="$home" ELECTION_REPLAY_PYTHON="$home/.venv/bin/python"
export ELECTION_REPLAY_CONFIG="${ELECTION_REPLAY_CONFIG:-$home/conf/pipeline.yaml}"
export ELECTION_REPLAY_LANDING="${ELECTION_REPLAY_LANDING:-$home/examples/landing}"
export ELECTION_REPLAY_WAREHOUSE="${ELECTION_REPLAY_WAREHOUSE:-$home/demo-warehouse}"

airflow_ready() {
    airflow db migrate > /dev/null
    airflow pools set election_replay 1 "one step at a time" > /dev/null
}
