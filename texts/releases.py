"""Which source archives are read: components of a system, their releases, and the packages that matter.

A package matters when it elects, replicates, locks, registers, hands over metadata, or starts and stops the process
that does. Releases are those whose sources the registries have; alphas, betas and candidates are left out, but for the
years in which ZooKeeper 3.5 had no other ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

TREE = "tree:"
"""What the coordinate of a tag's tree begins with."""


@dataclass(frozen=True, slots=True)
class Component:
    """One source archive a release, and what of it is read.

    ``archives`` says for each release, oldest first, which archive it is: ``group:artifact:version`` of a jar,
    ``path@version`` of a Go module, or :data:`TREE` and ``owner/name@tag`` of a tree. ``packages`` are files, or
    folders below the archive's root, each with those below it; one that ends in ``/`` stands for itself alone.
    ``missing`` are releases whose sources no registry has.
    """

    system: str
    product: str
    name: str
    archives: Mapping[str, str]
    packages: tuple[str, ...]
    missing: tuple[str, ...] = ()
    root: str = field(default="", kw_only=True)

    @property
    def language(self) -> str:
        """``java``, ``scala``, ``go`` or ``c``."""
        if any(one.endswith(".scala") for one in self.packages):
            return "scala"
        first = next(iter(self.archives.values()))
        return "c" if first.startswith(TREE) else "go" if "@" in first else "java"

    @property
    def releases(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(self.archives)


def _jars(
    system: str,
    product: str,
    coordinate: str,
    releases: Iterable[str],
    packages: Iterable[str],
    missing: Iterable[str] = (),
    *,
    root: str,
) -> Component:
    without = tuple(missing)
    return Component(
        system,
        product,
        coordinate.rpartition(":")[2],
        {release: f"{coordinate}:{release}" for release in releases if release not in without},
        tuple(f"{root}/{one}".rstrip() for one in packages),
        without,
        root=root,
    )


_ROCKETMQ_4 = (
    *("4.5.0", "4.5.1", "4.5.2", "4.6.0", "4.6.1", "4.7.0", "4.7.1", "4.8.0"),
    *("4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.7"),
)
_ROCKETMQ_5 = (
    *("5.0.0", "5.1.0", "5.1.1", "5.1.3", "5.1.4", "5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.3.4"),
    *("5.4.0", "5.5.0", "5.5.1"),
)
_ROCKETMQ = (*_ROCKETMQ_4, *_ROCKETMQ_5)


def _rocketmq(artifact: str, releases: tuple[str, ...], *packages: str, missing: tuple[str, ...] = ()) -> Component:
    coordinate, root = f"org.apache.rocketmq:rocketmq-{artifact}", "org/apache/rocketmq"
    return _jars("rocketmq", "RocketMQ", coordinate, releases, packages, missing, root=root)


_ETCD_33 = {
    f"3.3.{patch}": f"github.com/coreos/etcd@v3.3.{patch}+incompatible" for patch in (8, 10, 12, 13, 15, 18, 27)
}
_ETCD_34 = {
    # This module's releases have no versions of their own in the registry: these are the commits of their tags.
    "3.4.0": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20190830150955-898bd1351fcf",
    "3.4.1": "go.etcd.io/etcd@v0.0.0-20190917205325-a14579fbfb1a",
    "3.4.3": "go.etcd.io/etcd@v0.0.0-20191023171146-3cf2f69b5738",
    "3.4.7": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20200401174654-e694b7bb0875",
    "3.4.9": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20200520232829-54ba9589114f",
    "3.4.13": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20200910180754-dd1b699fc489",
    "3.4.16": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20210512015243-d19fbe541bf9",
    "3.4.25": "go.etcd.io/etcd@v0.5.0-alpha.5.0.20230414071934-94593e63d45c",
}
_ETCD_35 = (0, 5, 7, 8, 9, 10, 11, 12, 15, 16, 21, 23, 31, 32, 33, 34, 35)
_ETCD_36 = (0, 4, 5, 8, 12, 13, 14, 15, 16)
_ETCD_37 = (0, 1, 2, 3)

_REDIS = ("6.2.0", "6.2.7", "6.2.16", "7.0.0", "7.0.15", "7.2.0", "7.2.6", "7.4.0", "7.4.1", "8.0.2", "8.0.6")
_VALKEY = ("7.2.5", "7.2.7", "8.0.0", "8.0.1", "8.1.1", "9.1.2")


def _redis(product: str, path: str, releases: tuple[str, ...]) -> Component:
    files = ("sentinel", "replication", "cluster", "cluster_legacy", "server", "rdb")
    return Component(
        "redis",
        product,
        product.lower(),
        {release: f"{TREE}{path}@{release}" for release in releases},
        tuple(f"src/{file}.c" for file in files),
        root="src",
    )


_KAFKA = (
    *("3.3.0", "3.3.2", "3.4.0", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.0", "3.9.1", "4.0.0", "4.1.0", "4.1.1"),
    *("4.2.0", "4.3.0", "4.3.1"),
)
_KAFKA_ROOT = "org/apache/kafka"


def _kafka(artifact: str, *packages: str, releases: tuple[str, ...] = _KAFKA) -> Component:
    coordinate = f"org.apache.kafka:{artifact}"
    root = "kafka" if artifact == "kafka_2.13" else _KAFKA_ROOT
    return _jars("kafka", "Kafka", coordinate, releases, packages, root=root)


COMPONENTS = (
    _rocketmq(
        "broker",
        _ROCKETMQ,
        *("broker/", "broker/controller", "broker/dledger", "broker/failover", "broker/lock", "broker/out"),
        *("broker/schedule", "broker/slave", "broker/subscription", "broker/topic", "broker/offset"),
        *("broker/transaction", "broker/client", "broker/processor", "broker/util", "broker/config"),
        "broker/plugin",
    ),
    _rocketmq("controller", _ROCKETMQ_5, "controller", missing=("5.1.3", "5.3.0", "5.3.2")),
    _rocketmq(
        "container",
        _ROCKETMQ_5,
        "container",
        missing=("5.1.3", "5.1.4", "5.3.0", "5.3.1", "5.3.2", "5.3.4", "5.5.1"),
    ),
    _rocketmq("namesrv", _ROCKETMQ, "namesrv", missing=("5.1.3", "5.3.0", "5.3.1", "5.3.2", "5.5.1")),
    _rocketmq("store", _ROCKETMQ, "store/", "store/ha", "store/dledger", "store/config", "store/lock", "store/util"),
    _rocketmq("remoting", _ROCKETMQ, "remoting/netty", "remoting/common", missing=("5.3.4",)),
    _rocketmq("common", _ROCKETMQ, "common/", "common/namesrv", missing=("5.3.4",)),
    _rocketmq("srvutil", _ROCKETMQ, "srvutil", missing=("5.3.4", "5.5.1")),
    _jars(
        "rocketmq",
        "DLedger",
        "io.openmessaging.storage:dledger",
        (
            *("0.2.0", "0.2.2", "0.2.3", "0.2.4", "0.2.6", "0.2.7", "0.3.0", "0.3.1", "0.3.1.1", "0.3.1.2", "0.3.1.3"),
            *("0.3.2", "0.3.3.1", "0.3.3.4", "0.4.0", "0.4.3"),
        ),
        ("dledger",),
        ("0.3.1.3", "0.3.3.1"),
        root="io/openmessaging/storage",
    ),
    _jars(
        "rocketmq",
        "SOFAJRaft",  # the projects of RocketMQ 5.3.3 to 5.5.1 name 1.3.14
        "com.alipay.sofa:jraft-core",
        ("1.3.11", "1.3.12", "1.3.13", "1.3.14"),
        ("jraft/", "jraft/core", "jraft/storage", "jraft/rpc/impl/core"),
        root="com/alipay/sofa",
    ),
    _jars(
        "zookeeper",
        "ZooKeeper",
        "org.apache.zookeeper:zookeeper",
        (
            *(f"3.4.{patch}" for patch in range(15)),
            *("3.5.0-alpha", "3.5.1-alpha", "3.5.2-alpha", "3.5.3-beta", "3.5.4-beta"),
            *(f"3.5.{patch}" for patch in range(5, 11)),
            *(f"3.6.{patch}" for patch in range(5)),
            *(f"3.7.{patch}" for patch in range(3)),
            *(f"3.8.{patch}" for patch in range(8)),
            *(f"3.9.{patch}" for patch in range(7)),
        ),
        ("server/", "server/quorum", "server/persistence", "server/util", "util"),
        ("3.8.7", "3.9.6"),
        root="org/apache/zookeeper",
    ),
    Component(
        "etcd",
        "etcd",
        "etcd",
        {
            **_ETCD_33,
            **_ETCD_34,
            **{f"3.5.{patch}": f"go.etcd.io/etcd/server/v3@v3.5.{patch}" for patch in _ETCD_35},
            **{f"3.6.{patch}": f"go.etcd.io/etcd/server/v3@v3.6.{patch}" for patch in _ETCD_36},
            **{f"3.7.{patch}": f"go.etcd.io/etcd/server/v3@v3.7.{patch}" for patch in _ETCD_37},
        },
        (
            *("raft", "etcdserver/", "etcdserver/membership", "etcdserver/api/", "etcdserver/api/membership"),
            *("etcdserver/api/rafthttp", "rafthttp", "etcdserver/api/snap", "snap", "etcdserver/apply"),
            *("etcdserver/version", "etcdserver/txn", "wal", "storage", "embed", "etcdmain", "pkg/osutil", "lease"),
            *("mvcc/", "etcdserver/api/etcdhttp"),
        ),
    ),
    Component(
        "etcd",
        "etcd's Raft library",
        "raft",
        {
            **{
                f"3.5.{patch}": f"go.etcd.io/etcd/raft/v3@v3.5.{patch}"
                for patch in (0, 5, 7, 8, 9, 10, 11, 13, 15, 16, 21, 23, 33, 34, 35)
            },
            **{release: f"go.etcd.io/raft/v3@v{release}" for release in ("3.6.0", "3.7.0")},
        },
        ("",),
    ),
    Component(
        "etcd",
        "etcd",
        "pkg",
        {
            release: f"go.etcd.io/etcd/pkg/v3@v{release}"
            for release in ("3.5.0", "3.5.11", "3.5.35", "3.6.0", "3.6.16", "3.7.3")
        },
        ("osutil",),
    ),
    _redis("Redis", "redis/redis", _REDIS),
    _redis("Valkey", "valkey-io/valkey", _VALKEY),
    _kafka("kafka-raft", "raft"),
    _kafka("kafka-metadata", "controller", "metadata/", "image/loader"),
    _kafka("kafka-server", "server/", releases=_KAFKA[_KAFKA.index("3.9.0") :]),
    _kafka("kafka-storage", "storage/internals/log", releases=_KAFKA[_KAFKA.index("3.9.0") :]),
    _kafka(
        "kafka_2.13",
        *("cluster/Partition.scala", "server/ReplicaManager.scala", "server/AbstractFetcherThread.scala"),
        *("server/BrokerLifecycleManager.scala", "server/KafkaRaftServer.scala", "server/ReplicaFetcherThread.scala"),
        *("log/UnifiedLog.scala", "log/LogManager.scala", "server/BrokerServer.scala", "server/ControllerServer.scala"),
    ),
)
"""Everything that is read."""
