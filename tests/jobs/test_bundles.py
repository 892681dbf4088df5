"""Support bundles as the tools lay them out, rebuilt from a real cluster's logs: the verdict is that of the logs alone.

The layouts are those of ``oc adm inspect``, ``kubectl cluster-info dump``, troubleshoot.sh, rancher2_logs_collector.sh
and Strimzi's report.sh. Each holds more than logs of a known system, and some hold one log several times.
"""

import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.test_look import logs_of, told
from tests.jobs.zone import leads

ETCD, KRAFT = "etcd/kill-leader-34", "kafka-kraft/isolate-active"
KLOG = "I1121 09:39:19.123456       1 controller.go:107] Starting\nE1121 09:39:20.100000       1 wrap.go:54] timeout\n"
JOURNAL = 'Nov 21 09:22:19 {} rke2[812]: time="2026-11-21T09:22:19Z" level=info msg="Starting"\n'
Files = dict[str, str]
"""Path -> text."""


@pytest.fixture
def local() -> Iterator[LocalEngine]:
    with closing(LocalEngine()) as engine:
        yield engine


def stamped(log: str, tag: str = "") -> str:
    """The lines as ``kubectl logs --timestamps`` prints them; with a tag, as containerd writes them."""
    at, lines = "", []
    for line in log.splitlines():
        at = json.loads(line)["ts"].replace("+0000", "Z") if line.startswith("{") else at
        lines.append(f"{at}{tag} {line}\n")
    return "".join(lines)


def must_gather(logs: Files) -> Files:
    root = "must-gather.local.58/quay-io-openshift-release-dev-sha256-abc"
    files = {
        "must-gather.local.58/must-gather.logs": "[must-gather      ] OUT pod created\n",
        f"{root}/version": "4.16\n",
    }
    for node, log in logs.items():
        etcd = f"{root}/namespaces/openshift-etcd/pods/etcd-{node}"
        files[f"{etcd}/etcd/etcd/logs/current.log"] = stamped(log)
        files |= {f"{etcd}/etcd/etcd/logs/previous.log": "", f"{etcd}/etcd-{node}.yaml": "kind: Pod\n"}
        other = f"{root}/namespaces/openshift-kube-apiserver/pods/kube-apiserver-{node}"
        files[f"{other}/kube-apiserver/kube-apiserver/logs/current.log"] = KLOG
    return files


def dumped(logs: Files) -> Files:
    """What ``kubectl cluster-info dump`` writes for each pod."""
    found = {}
    for node, log in logs.items():
        for name, text in ((f"kube-apiserver-{node}", KLOG), (f"etcd-{node}", log)):
            of = f"logs for container {name.rpartition('-')[0]} of pod kube-system/{name} ===="
            found[f"kube-system/{name}/logs.txt"] = f"==== START {of}\n{text}==== END {of}\n"
    return found


def dump_in_a_folder(logs: Files) -> Files:
    return {"dump/nodes.json": '{"kind": "NodeList"}', **{f"dump/{path}": text for path, text in dumped(logs).items()}}


def dump_in_one_file(logs: Files) -> Files:
    objects = json.dumps(
        {"kind": "NodeList", "items": [{"name": f"node-{number}"} for number in range(5000)]}, indent=4
    )
    return {"dump.txt": "\n".join([objects, *dumped(logs).values()])}


def troubleshoot(logs: Files) -> Files:
    """Its collector of logs, beside the logs of failing pods: the same once more."""
    root = "support-bundle-2026-11-21T10_00_00"
    files = {
        f"{root}/version.yaml": "v: 1\n",
        f"{root}/analysis.json": "[]",
        f"{root}/cluster-resources/pods/db.json": "{}",
    }
    for node, log in logs.items():
        files[f"{root}/cluster-resources/pods/logs/db/etcd-{node}/etcd.log"] = log
        files[f"{root}/etcd/etcd-{node}/etcd.log"] = log
        files[f"{root}/cluster-resources/pods/logs/kube-system/proxy-{node}/kube-proxy.log"] = KLOG
        files[f"{root}/cluster-resources/pods/logs/ingress-nginx/ingress-{node}/controller.log"] = KLOG
    return files


def rke2(logs: Files) -> Files:
    """One archive a host. Each holds what ``kubectl logs`` prints of all pods, and the files of this host's pods."""
    files = {}
    for host in logs:
        root = f"{host}-2026-11-21_10_00_00.tar.gz/{host}-2026-11-21_10_00_00"
        for node, log in logs.items():
            files[f"{root}/rke2/podlogs/kube-system-etcd-{node}"] = log
            files[f"{root}/rke2/podlogs/kube-system-kube-apiserver-{node}"] = KLOG
            files[f"{root}/rke2/podlogs/kube-system-etcd-{node}-previous"] = (
                "Error from server (BadRequest): not found\n"
            )
        files[f"{root}/rke2/podlogs/kube-system_etcd-{host}_5f3e/etcd/0.log"] = stamped(logs[host], " stderr F")
        files |= {f"{root}/journald/rke2-server": JOURNAL.format(host), f"{root}/systeminfo/uname": "Linux\n"}
    return files


def k3s(logs: Files) -> Files:
    """One archive a host, whose journal holds the lines of etcd among those of k3s."""
    return {
        f"{host}-2026-11-21_10_00_00.tar.gz/{host}-2026-11-21_10_00_00/journald/k3s": "".join(
            f"{JOURNAL.format(host)}Nov 21 09:22:19 {host} k3s[1249]: {line}\n" for line in log.splitlines()
        )
        for host, log in logs.items()
    }


def strimzi(logs: Files) -> Files:
    root = "report-21-11-2026_10-00-00.zip/reports"
    files = {
        f"{root}/events/events.txt": "LAST SEEN   TYPE\n",
        f"{root}/logs/strimzi-cluster-operator-6b8.log": "2026-11-21 09:39:19 INFO  AbstractOperator:265 - reconciled\n",
    }
    for node, log in logs.items():
        files |= {
            f"{root}/logs/my-{node}.log": log.rstrip("\n"),
            f"{root}/configs/my-{node}.cfg": "process.roles=broker\n",
        }
    return files


def zip_of_a_zip(logs: Files) -> Files:
    return {f"outer.zip/inner.zip/etcd-{node}.log": log for node, log in logs.items()}


BUNDLES: dict[Callable[[Files], Files], str] = dict.fromkeys(
    (must_gather, dump_in_a_folder, dump_in_one_file, troubleshoot, rke2, k3s, zip_of_a_zip), ETCD
) | {strimzi: KRAFT}


def write(files: Files, folder: Path) -> None:
    """Write files below a folder; a part of a path that ends like an archive is packed."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    for packed in sorted((*folder.rglob("*.zip"), *folder.rglob("*.tar.gz")), key=lambda path: -len(path.parts)):
        content = packed.rename(packed.with_name(f"{packed.name}.content"))
        if packed.suffix == ".zip":
            with zipfile.ZipFile(packed, "w") as archive:
                for path in sorted(path for path in content.rglob("*") if path.is_file()):
                    archive.write(path, path.relative_to(content))
        else:
            with tarfile.open(packed, "w:gz") as archive:
                archive.add(content, ".")
        for path in sorted(content.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        content.rmdir()


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.__name__)
def test_the_verdict_is_that_of_the_logs_alone(
    bundle: Callable[[Files], Files], local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    run = corpora / BUNDLES[bundle]
    logs = {node: path for node, path in logs_of(run) if path.name in ("etcd.log", "server.log")}
    for node, path in logs.items():
        own = tmp_path / "laid-out" / "mailed" / "nodes" / node / "logs"
        own.mkdir(parents=True)
        (own / path.name).write_bytes(path.read_bytes())
    wanted = told(local, tmp_path / "laid-out", tmp_path / "w0")[1]
    assert len(wanted) > 5
    write(bundle({node: path.read_text("utf-8") for node, path in logs.items()}), tmp_path / "mailed")
    looked, found = told(local, tmp_path / "mailed", tmp_path / "w")
    assert found == wanted
    names = [assumed.node for assumed in looked.assumed]
    if bundle is dump_in_one_file:  # a file of one folder, whose headings name the pods
        published = Published(Warehouse(str(tmp_path / "w/warehouse")))
        names = [row["source_node"] for row in published.rows("SELECT DISTINCT source_node FROM role_intervals")]
    assert len(names) == len(logs)
    assert all(any(node in name for name in names) for node in logs)  # the pod or the host, as the bundle calls it


def test_lines_of_one_second_in_two_logs_make_no_copy(local: LocalEngine, tmp_path: Path) -> None:
    """Two members that start at once print the same lines; one of them goes on."""
    starts = "".join(leads(1, term) for term in range(1, 9))
    for node, log in (("n0", starts), ("n1", starts + leads(60, 9)), ("n2", starts)):
        (tmp_path / "mailed" / node).mkdir(parents=True)
        (tmp_path / "mailed" / node / "broker.log").write_text(log)
    looked, _ = told(local, tmp_path / "mailed", tmp_path / "w")
    assert looked.read_otherwise == [("n2/broker.log", "a copy, read once: all its lines are in n0/broker.log")]
    assert [assumed.node for assumed in looked.assumed] == ["n0", "n1"]


def test_the_last_line_of_a_copy_may_be_torn(local: LocalEngine, tmp_path: Path) -> None:
    """A backup that was made while the server wrote ends in half a line, which reads as another one."""
    log = "".join(
        f"7:S 26 Nov 2026 12:15:0{second}.613 * FAIL message received from {second:040x} about {second + 9:040x}\n"
        for second in range(9)
    )
    for folder, text in (("redis-1", log), ("backup", log[:-140])):
        (tmp_path / "mailed" / folder).mkdir(parents=True)
        (tmp_path / "mailed" / folder / "redis-server.log").write_text(text)
    looked, _ = told(local, tmp_path / "mailed", tmp_path / "w")
    [(path, how)] = looked.read_otherwise
    assert path == "backup/redis-server.log"
    assert how == "a copy, read once: all its lines are in redis-1/redis-server.log"


def test_the_configured_layout_says_whose_a_log_is(local: LocalEngine, tmp_path: Path) -> None:
    for cluster in "ab":
        (tmp_path / "mailed" / cluster / "nodes/n1/logs").mkdir(parents=True)
        (tmp_path / "mailed" / cluster / "nodes/n1/logs/broker.log").write_text(
            "".join(leads(1, n) for n in range(1, 9))
        )
    looked, _ = told(local, tmp_path / "mailed", tmp_path / "w")
    assert looked.read_otherwise == []
    assert [assumed.cluster for assumed in looked.assumed] == ["a", "b"]


def test_what_rocketmq_exports_is_no_log(local: LocalEngine, tmp_path: Path) -> None:
    """``distribution/bin/export.sh`` of RocketMQ asks the brokers for settings and counts."""
    exported = {"configs": {"brokerConfigs": {"broker-a": {"brokerId": "0"}}}, "metadata": {}, "metrics": {}}
    (tmp_path / "mailed").mkdir()
    (tmp_path / "mailed/rocketmq-metadata-export.json").write_text(json.dumps(exported, indent=2))
    with pytest.raises(
        JobError, match=r"(?s)no line that tells of elections .*export\.sh wrote it: .* ~/logs/rocketmqlogs"
    ):
        told(local, tmp_path / "mailed", tmp_path / "w")
