"""Messages of statements whose values hold words of their own: what stands in the source says too little."""

from collections.abc import Mapping

EXAMPLES: Mapping[tuple[str, str], str] = {
    ("etcdserver/server.go", "{}"): "the member has been permanently removed from the cluster",
    ("embed/etcd.go", "election = {}ms"): "election = 1000ms",
    ("etcdserver/config.go", "election = {}ms"): "election = 1000ms",
    ("server/quorum/FastLeaderElection.java", "Notification: {} (my state)"): (
        "Notification: 1 (message format version), 2 (n.leader), 0x500000007 (n.zxid), 0x1 (n.round),"
        " LOOKING (n.state), 2 (n.sid), 0x5 (n.peerEpoch) LOOKING (my state)"
    ),
    ("server/quorum/Follower.java", "FOLLOWING - LEADER ELECTION TOOK - {} {}"): (
        "FOLLOWING - LEADER ELECTION TOOK - 311 MS"
    ),
    ("server/quorum/Leader.java", "LEADING - LEADER ELECTION TOOK - {} {}"): "LEADING - LEADER ELECTION TOOK - 496 MS",
    ("common/MixAll.java", "{}={}"): "brokerId=1",
    ("remoting/netty/NettyRemotingAbstract.java", "{}"): (
        "RemotingCommand [code=24, language=JAVA, version=479, opaque=451, flag(B)=1, remark=null, extFields=null]"
    ),
    ("server/util/JvmPauseMonitor.java", "{}"): (
        "Detected pause in JVM or host machine (eg GC): pause of approximately 1234ms"
    ),
}
"""By source file and text."""
