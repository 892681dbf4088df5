"""Which dialect and layout the lines of a file with an unknown name have."""

from election_replay.election_core.dialects import DIALECTS, named
from election_replay.election_core.dialects.readings import spoken

OF_ZOOKEEPER = (
    "2026-11-21 09:58:20,011 - INFO  [NIOWorkerThread-1:NIOServerCnxn@517] - Processing srvr command from "
    "/10.83.2.102:58332",
    "2026-11-21 09:58:20,841 - INFO  [QuorumPeer[myid=2](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled):"
    "FastLeaderElection@996] - Notification time out: 3200 ms",
)
OF_ETCD = (
    '{"level":"info","ts":"2026-11-21T09:23:11.825Z","caller":"embed/etcd.go:117","msg":"configuring peer listeners",'
    '"listen-peer-urls":["http://10.83.3.12:2380"]}',
    '{"level":"warn","ts":"2026-11-21T09:23:29.841Z","caller":"etcdserver/cluster_util.go:168",'
    '"msg":"Notification time out: failed to get version","remote-member-id":"30c3c2aa47460bb0"}',
)


def test_lines_of_another_program_lend_no_layout() -> None:
    """JSON of one program that holds words of another is not the other's layout."""
    assert spoken(DIALECTS, OF_ZOOKEEPER + OF_ETCD, "all.txt") is named("zookeeper")
