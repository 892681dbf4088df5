"""etcd: what the members of a cluster print about their Raft group."""
