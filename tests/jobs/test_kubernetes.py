"""What Spark would ask of Kubernetes, by an API that records it: the profile's command makes the pod of a driver."""

import json
import shlex
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.jobs.test_profiles import environment
from tests.printed import in_comments

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "conf/spark/k8s.conf"
SUBMIT = Path(pyspark.__file__).parent / "bin/spark-submit"


class Recorder(BaseHTTPRequestHandler):
    """Takes whatever is to be made, and answers as if it was made."""

    made: list[dict[str, Any]]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Something is made."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body.setdefault("metadata", {})["uid"] = f"uid-{len(self.made)}"
        self.made.append({**body, "path": self.path})
        self._answer(body, 201)

    do_PATCH = do_PUT = do_POST  # noqa: N815 - how the library calls them

    def do_GET(self) -> None:
        """Something is looked for, of which there is nothing yet."""
        self._answer(
            {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}, 404
        )

    def _answer(self, body: dict[str, Any], code: int) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def api() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of the API, and all that was made."""
    made: list[dict[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Recorder,), {"made": made}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", made
    server.shutdown()


def test_the_command_of_the_profile_makes_the_pod_of_a_driver(api: tuple[str, list[dict[str, Any]]]) -> None:
    address, made = api
    [command] = in_comments(PROFILE)
    words = shlex.split(command.replace("https://HOST:6443", address))[1:]
    here = ("--conf", "spark.kubernetes.submission.waitAppCompletion=false")
    done = subprocess.run(
        [SUBMIT, *here, *words], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=600, check=False
    )
    pods = [one for one in made if one.get("kind") == "Pod"]
    assert pods, done.stderr[-3000:]
    pod = pods[0]
    [driver] = pod["spec"]["containers"]
    assert pod["path"].startswith("/api/v1/namespaces/election-replay/pods")
    assert pod["spec"]["serviceAccountName"] == "election-replay"
    assert driver["image"] == "REGISTRY/election-replay"
    assert driver["resources"]["limits"]["memory"] == "6144Mi", "half as much again for Python"
    assert driver["args"][0] == "driver"
    assert [one for one in driver["args"] if one.endswith("/jobs/run.py")] == [
        "local:///opt/election-replay/jobs/run.py"
    ]
    assert driver["args"][-2:] == ["--config", "/etc/election-replay/pipeline.yaml"]
    mounts = {mount["mountPath"]: mount["name"] for mount in driver["volumeMounts"]}
    secrets = {one["name"]: one["secret"]["secretName"] for one in pod["spec"]["volumes"] if "secret" in one}
    assert secrets[mounts["/etc/election-replay"]] == "election-replay-settings"
    [settings] = [one for one in made if one.get("kind") == "ConfigMap" and "spark.properties" in one["data"]]
    assert "spark.dynamicAllocation.maxExecutors=8" in settings["data"]["spark.properties"]
