"""TLC looks for a behaviour of Raft's elections that explains all lines of one etcd cluster."""
