"""HDFS and YARN on this machine: NameNode, DataNodes, ResourceManager and NodeManagers, each a process of its own."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen
from xml.sax.saxutils import escape

from tests.daemons import Daemon, free_ports, started

JARS = Path(os.environ.get("HADOOP_JARS", "build/hadoop"))
HERE = "127.0.0.1"
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
RESOURCEMANAGER = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
NODEMANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
SHELL = "org.apache.hadoop.fs.FsShell"

LOG4J = """log4j.rootLogger=INFO,all
log4j.appender.all=org.apache.log4j.ConsoleAppender
log4j.appender.all.layout=org.apache.log4j.PatternLayout
log4j.appender.all.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n
"""

NODE_MEGABYTES = 10 << 10
"""What a NodeManager lends: room for one container of the profile; the machine need not have it."""


@dataclass
class Hadoop:
    """The daemons, below one folder; each has its own folder there, as if a disk of its own."""

    root: Path
    ports: list[int] = field(default_factory=lambda: free_ports(8))
    datanodes: list[Daemon] = field(default_factory=list)
    nodemanagers: list[Daemon] = field(default_factory=list)
    others: list[Daemon] = field(default_factory=list)

    def start(self, datanodes: int, nodemanagers: int) -> None:
        """Start everything, and wait until all nodes are there."""
        client = self.folder("client", {}, {})
        subprocess.run(self._java(client, NAMENODE, "-format", "-nonInteractive"), check=True, capture_output=True)
        self.others.append(self._daemon("client", NAMENODE, "namenode"))
        for number in range(datanodes):
            self._start_datanode(number)
        self.others.append(self._daemon("client", RESOURCEMANAGER, "resourcemanager"))
        for number in range(nodemanagers):
            self._start_nodemanager(number)
        self.others[0].wait_for(lambda: self.live_datanodes() == datanodes)
        self.others[1].wait_for(lambda: len(self.live_nodemanagers()) == nodemanagers)

    def stop(self) -> None:
        """End everything, and the containers with it."""
        for number in range(len(self.nodemanagers)):
            self.kill_machine(number)
        for daemon in (*self.datanodes, *self.others):
            daemon.kill()

    def kill_machine(self, number: int) -> None:
        """A NodeManager ends, and all its containers, as when its machine loses its power."""
        self.nodemanagers[number].kill()
        for process in self.processes_on(number):
            os.kill(process, signal.SIGKILL)

    def processes_on(self, number: int, command: str = "") -> list[int]:
        """The processes in the containers of a NodeManager; those of a command."""
        disk = self.root / f"nodemanager{number}"
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if disk in (process / "cwd").readlink().parents and command in (process / "cmdline").read_text():
                    found.append(int(process.name))
            except OSError:  # it has ended
                continue
        return found

    def said(self, application: str, stream: str = "stdout") -> str:
        """What the drivers of an application have said, of all attempts."""
        logs = self.root.glob(f"nodemanager*/logs/{application}/*_000001/{stream}")
        return "".join(log.read_text(errors="replace") for log in sorted(logs, key=lambda log: log.parent.name))

    def environment(self, user: str) -> dict[str, str]:
        """The environment in which ``user`` works: ``hdfs`` and ``spark-submit`` find everything."""
        bin_folder = self.root / "bin"
        bin_folder.mkdir(exist_ok=True)
        (bin_folder / "hdfs").write_text(
            f'#!/bin/sh\nshift\nexec java -cp "$HADOOP_CONF_DIR:{JARS.absolute()}/*" {SHELL} "$@" 2>&1\n'
        )
        (bin_folder / "hdfs").chmod(0o755)
        dropped = {"PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "ELECTION_REPLAY_CONFIG"}
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        return kept | {"HADOOP_CONF_DIR": str(self.root / "client"), "HADOOP_USER_NAME": user, "PATH": path}

    def driver_of(self, application: str) -> int | None:
        """On which NodeManager the newest driver of an application runs: an attempt's first container."""
        drivers = sorted(self.root.glob(f"nodemanager*/logs/{application}/*_000001"), key=lambda one: one.name)
        return int(drivers[-1].parts[-4].removeprefix("nodemanager")) if drivers else None

    def live_nodemanagers(self) -> list[str]:
        """The NodeManagers that YARN works with."""
        nodes = self._asked(self.ports[7], "/ws/v1/cluster/nodes").get("nodes") or []
        return [one["nodeId"] for one in nodes if one["state"] == "RUNNING"]

    def live_datanodes(self) -> int:
        """How many DataNodes the NameNode works with."""
        beans = self._asked(self.ports[1], "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState").get("beans")
        return int(beans[0]["NumLiveDataNodes"]) if beans else 0

    def folder(self, name: str, hdfs: Mapping[str, object], yarn: Mapping[str, object]) -> Path:
        """The settings of one daemon, or of clients."""
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        files = {
            "core-site.xml": {"fs.defaultFS": f"hdfs://{HERE}:{self.ports[0]}"},
            "hdfs-site.xml": {
                "dfs.namenode.name.dir": (self.root / "names").as_uri(),
                "dfs.namenode.http-address": f"{HERE}:{self.ports[1]}",
                "dfs.replication": 2,
                "dfs.namenode.avoid.write.stale.datanode": "true",
                "dfs.namenode.avoid.read.stale.datanode": "true",
                # With no more machines than replicas a silent one is named until it counts as dead: 40 s here.
                "dfs.namenode.heartbeat.recheck-interval": 5_000,
                **hdfs,
            },
            "yarn-site.xml": {
                "yarn.resourcemanager.hostname": HERE,
                "yarn.resourcemanager.address": f"{HERE}:{self.ports[3]}",
                "yarn.resourcemanager.scheduler.address": f"{HERE}:{self.ports[4]}",
                "yarn.resourcemanager.resource-tracker.address": f"{HERE}:{self.ports[5]}",
                "yarn.resourcemanager.admin.address": f"{HERE}:{self.ports[6]}",
                "yarn.resourcemanager.webapp.address": f"{HERE}:{self.ports[7]}",
                "yarn.resourcemanager.nm.liveness-monitor.interval-ms": 15_000,
                "yarn.nm.liveness-monitor.expiry-interval-ms": 15_000,
                **yarn,
            },
            "capacity-scheduler.xml": {
                "yarn.scheduler.capacity.root.queues": "default",
                "yarn.scheduler.capacity.root.default.capacity": 100,
                "yarn.scheduler.capacity.maximum-am-resource-percent": 1.0,
            },
        }
        (folder / "log4j.properties").write_text(LOG4J)
        for file, settings in files.items():
            lines = [
                f"<property><name>{name}</name><value>{escape(str(value))}</value></property>"
                for name, value in settings.items()
            ]
            (folder / file).write_text("\n".join(["<configuration>", *lines, "</configuration>"]))
        return folder

    def _start_datanode(self, number: int) -> None:
        data, page, ipc = free_ports(3)
        settings = {
            "dfs.datanode.data.dir": (self.root / f"datanode{number}/disk").as_uri(),
            "dfs.datanode.address": f"{HERE}:{data}",
            "dfs.datanode.http.address": f"{HERE}:{page}",
            "dfs.datanode.ipc.address": f"{HERE}:{ipc}",
        }
        self.folder(f"datanode{number}", settings, {})
        self.datanodes.append(self._daemon(f"datanode{number}", DATANODE, f"datanode{number}"))

    def _start_nodemanager(self, number: int) -> None:
        port, localizer, page = self._node_ports(number)
        folder = self.root / f"nodemanager{number}"
        settings = {
            "yarn.nodemanager.address": f"{HERE}:{port}",
            "yarn.nodemanager.localizer.address": f"{HERE}:{localizer}",
            "yarn.nodemanager.webapp.address": f"{HERE}:{page}",
            "yarn.nodemanager.local-dirs": folder / "disk",
            "yarn.nodemanager.log-dirs": folder / "logs",
            "yarn.nodemanager.resource.memory-mb": NODE_MEGABYTES,
            "yarn.nodemanager.resource.cpu-vcores": 8,
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
        }
        self.folder(f"nodemanager{number}", {}, settings)
        self.nodemanagers.append(self._daemon(f"nodemanager{number}", NODEMANAGER, f"nodemanager{number}"))

    def _node_ports(self, number: int) -> list[int]:
        kept = self.root / f"nodemanager{number}.ports"
        if not kept.exists():
            kept.write_text(json.dumps(free_ports(3)))
        return list(json.loads(kept.read_text()))

    def _daemon(self, settings: str, main: str, name: str) -> Daemon:
        folder = self.root / settings
        kept = {**os.environ, "HADOOP_CONF_DIR": str(self.root / "client"), "HADOOP_USER_NAME": "hdfs"}
        return started(self._java(folder, main), self.root / f"{name}.log", kept)

    def _java(self, settings: Path, main: str, *words: str) -> list[str]:
        opened = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")
        return ["java", "-Xmx300m", *opened, "-cp", f"{settings}:{JARS.absolute()}/*", main, *words]

    def _asked(self, port: int, path: str) -> dict[str, Any]:
        try:
            with urlopen(f"http://{HERE}:{port}{path}", timeout=5) as answer:
                return dict(json.load(answer))
        except (URLError, ConnectionError, TimeoutError, json.JSONDecodeError):
            return {}
