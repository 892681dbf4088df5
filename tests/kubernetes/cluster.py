"""Kubernetes on this machine: its API server over etcd, with TLS and rights, and a node that runs pods with podman."""

import base64
import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.daemons import Daemon, free_ports, started

SERVERS = Path(os.environ.get("KUBERNETES_SERVERS", "build/kubernetes"))
ADMIN = "token-of-the-administrator"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where it is, not what it is

Answer = dict[str, Any]


@dataclass
class Cluster:
    """The API server, and what stands for machines and shared volumes, below one folder."""

    folder: Path
    port: int
    daemons: list[Daemon] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the API server listens."""
        return f"https://127.0.0.1:{self.port}"

    def asked(self, path: str, method: str = "GET", body: Answer | None = None) -> Answer:
        """What the API server answers its administrator."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = Request(  # noqa: S310 - our own server
            self.address + path,
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {ADMIN}", "Content-Type": kind},
        )
        trust = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        with urlopen(request, context=trust, timeout=30) as answer:  # noqa: S310 - the same
            return dict(json.load(answer))

    def answers(self) -> bool:
        """Whether the API server is there, with its roles."""
        with suppress(URLError, ConnectionError, ssl.SSLError):
            return bool(self.asked("/apis/rbac.authorization.k8s.io/v1/clusterroles/edit"))
        return False

    def environment(self) -> dict[str, str]:
        """The environment in which ``kubectl`` and ``spark-submit`` find the cluster as its administrator."""
        settings = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [
                {
                    "name": "here",
                    "cluster": {"server": self.address, "certificate-authority": str(self.folder / "ca.pem")},
                }
            ],
            "users": [{"name": "admin", "user": {"token": ADMIN}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "admin"}}],
        }
        file = self.folder / "kubeconfig"
        file.write_text(json.dumps(settings))
        path = f"{SERVERS.absolute()}{os.pathsep}{os.environ['PATH']}"
        return {"KUBECONFIG": str(file), "PATH": path}


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """An API server that nobody else uses; it knows pods, accounts and rights, and nothing runs a pod."""
    port, clients, peers = free_ports(3)
    certificates(folder)
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,admin,system:masters\n")
    store = f"http://127.0.0.1:{clients}"
    cluster = Cluster(folder, port)
    etcd = {
        "--data-dir": folder / "etcd",
        "--listen-client-urls": store,
        "--advertise-client-urls": store,
        "--listen-peer-urls": f"http://127.0.0.1:{peers}",
    }
    api = {
        "--etcd-servers": store,
        "--bind-address": "127.0.0.1",
        "--advertise-address": "127.0.0.1",
        "--endpoint-reconciler-type": "none",
        "--secure-port": port,
        "--tls-cert-file": folder / "server.pem",
        "--tls-private-key-file": folder / "server.key",
        "--token-auth-file": folder / "tokens.csv",
        "--authorization-mode": "RBAC",
        "--service-cluster-ip-range": "10.96.0.0/24",
        "--service-account-issuer": "https://kubernetes.default.svc",
        "--service-account-key-file": folder / "server.key",
        "--service-account-signing-key-file": folder / "server.key",
    }
    try:
        for name, settings in (("etcd", etcd), ("kube-apiserver", api)):
            words = [SERVERS.absolute() / name, *(f"{key}={value}" for key, value in settings.items())]
            cluster.daemons.append(started(words, folder / f"{name}.log", os.environ))
        cluster.daemons[-1].wait_for(cluster.answers)
        yield cluster
    finally:
        for daemon in reversed(cluster.daemons):
            daemon.kill()


def certificates(folder: Path) -> None:
    """An authority of our own, and a certificate for this machine."""
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    for command in (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=authority",
        "openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=kubernetes",
        "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names "
        "-out server.pem",
    ):
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)


class Node(threading.Thread):
    """What a kubelet does, as far as Spark needs it: it runs the pods of a namespace as containers of podman.

    All pods share this machine's network, each with an address of its own in 127.0.1.0/24; names of pods and services
    stand in a file of hosts that all of them read.
    """

    def __init__(self, cluster: Cluster, namespace: str, podman: Mapping[str, str], claims: Mapping[str, Path]) -> None:
        """``podman``: its environment. ``claims``: the folder that each claim of a volume stands for."""
        super().__init__(daemon=True)
        self.cluster, self.namespace, self.podman, self.claims = cluster, namespace, dict(podman), claims
        self.pods: dict[str, Answer] = {}
        """Every pod that was ever seen, by its name."""
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.over = threading.Event()
        self.failed: Exception | None = None
        (cluster.folder / "hosts").touch()

    def run(self) -> None:
        """Look what there is to do, until told to stop."""
        try:
            while not self.over.wait(0.5):
                self._look()
        except Exception as error:
            self.failed = error
            raise

    def stop(self) -> None:
        """End all containers."""
        self.over.set()
        self.join()
        for name in self.running:
            self._kill(name)

    def said(self, name: str) -> str:
        """What a pod's container has said."""
        log = self.cluster.folder / f"{name}.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def _look(self) -> None:
        listed = {one["metadata"]["name"]: one for one in self._listed("pods")}
        there = {name: pod for name, pod in listed.items() if name in self.pods or pod["status"]["phase"] == "Pending"}
        for name, pod in there.items():
            self.pods.setdefault(name, pod)
        self._name_services()
        for name, pod in there.items():
            if name not in self.running and self._has_its_volumes(pod):
                self._begin(name, pod)
        for name, process in self.running.items():
            if name not in there:
                self._kill(name)
            elif process.poll() is not None and there[name]["status"].get("phase") == "Running":
                self._tell(name, {"phase": "Succeeded" if process.returncode == 0 else "Failed"}, process.returncode)

    def _listed(self, kind: str) -> list[Answer]:
        return list(self.cluster.asked(f"/api/v1/namespaces/{self.namespace}/{kind}")["items"])

    def _address(self, name: str) -> str:
        return f"127.0.1.{[*self.pods].index(name) + 1}"

    def _name_services(self) -> None:
        lines = ["127.0.0.1 localhost", *(f"{self._address(name)} {name}" for name in self.pods)]
        for service in self._listed("services"):
            wanted = (service["spec"].get("selector") or {}).items()
            for name, pod in self.pods.items():
                if wanted and wanted <= (pod["metadata"].get("labels") or {}).items():
                    lines.append(f"{self._address(name)} {service['metadata']['name']}.{self.namespace}.svc")
        (self.cluster.folder / "hosts").write_text("\n".join([*lines, ""]))

    def _has_its_volumes(self, pod: Answer) -> bool:
        wanted = {one["configMap"]["name"] for one in pod["spec"].get("volumes", ()) if "configMap" in one}
        return wanted <= {one["metadata"]["name"] for one in self._listed("configmaps")}

    def _begin(self, name: str, pod: Answer) -> None:
        [container] = pod["spec"]["containers"]
        volumes = {one["name"]: self._volume(name, one) for one in pod["spec"].get("volumes", ())}
        mounts = [
            f"--volume={volumes[one['name']] / one.get('subPath', '')}:{one['mountPath']}"
            for one in container.get("volumeMounts", ())
        ]
        environment = [f"--env={one['name']}={self._value(name, one)}" for one in container.get("env", ())]
        hosts = ("--no-hosts", f"--volume={self.cluster.folder / 'hosts'}:/etc/hosts:ro")
        start = ("podman", "run", "--rm", f"--name={name}", f"--hostname={name}", "--network=host", "--uts=private")
        with (self.cluster.folder / f"{name}.log").open("w") as log:
            self.running[name] = subprocess.Popen(
                [*start, *hosts, *mounts, *environment, container["image"], *container.get("args", ())],
                env=self.podman,
                stdout=log,
                stderr=log,
            )
        self._tell(name, {"phase": "Running", "podIP": self._address(name), "startTime": now()})

    def _volume(self, pod: str, volume: Answer) -> Path:
        if "persistentVolumeClaim" in volume:
            return self.claims[volume["persistentVolumeClaim"]["claimName"]]
        folder = self.cluster.folder / "volumes" / pod / volume["name"]
        folder.mkdir(parents=True)
        folder.chmod(0o777)  # as Kubernetes makes those that are empty
        for file, text in self._files(volume).items():
            (folder / file).write_text(text)
        return folder

    def _files(self, volume: Answer) -> dict[str, str]:
        """What is in a volume at first."""
        if "configMap" in volume:
            found = self._named("configmaps", volume["configMap"]["name"])["data"]
            items = volume["configMap"].get("items") or [{"key": key, "path": key} for key in found]
            return {one["path"]: found[one["key"]] for one in items}
        if "secret" in volume:
            return self._secret(volume["secret"]["secretName"])
        if "projected" in volume:  # what the API server adds for the pod's account
            authority = (self.cluster.folder / "ca.pem").read_text()
            return {"token": self._token(), "ca.crt": authority, "namespace": self.namespace}
        return {}

    def _token(self) -> str:
        account = next(one["spec"]["serviceAccountName"] for one in self.pods.values())
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{account}/token"
        return str(self.cluster.asked(path, "POST", {"spec": {}})["status"]["token"])

    def _secret(self, name: str) -> dict[str, str]:
        found = self._named("secrets", name)["data"]
        return {key: base64.b64decode(value).decode() for key, value in found.items()}

    def _named(self, kind: str, name: str) -> Answer:
        return self.cluster.asked(f"/api/v1/namespaces/{self.namespace}/{kind}/{name}")

    def _value(self, pod: str, variable: Answer) -> str:
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            return {"status.podIP": self._address(pod), "metadata.name": pod}[source["fieldRef"]["fieldPath"]]
        if "secretKeyRef" in source:
            return self._secret(source["secretKeyRef"]["name"])[source["secretKeyRef"]["key"]]
        return str(variable.get("value", ""))

    def _tell(self, name: str, status: Answer, code: int | None = None) -> None:
        state = {"running": {"startedAt": now()}}
        if code is not None:
            state = {"terminated": {"exitCode": code, "finishedAt": now()}}
        image = self.pods[name]["spec"]["containers"][0]
        one = {"name": image["name"], "image": image["image"], "imageID": "", "ready": code is None, "restartCount": 0}
        ready = [{"type": "Ready", "status": "True" if code is None else "False"}]
        body = {"status": {**status, "conditions": ready, "containerStatuses": [{**one, "state": state}]}}
        with suppress(HTTPError):  # it is no longer there
            self.cluster.asked(f"/api/v1/namespaces/{self.namespace}/pods/{name}/status", "PATCH", body)

    def _kill(self, name: str) -> None:
        if self.running[name].poll() is None:
            subprocess.run(["podman", "kill", name], env=self.podman, capture_output=True, check=False)
            self.running[name].wait(60)


def now() -> str:
    """The time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
