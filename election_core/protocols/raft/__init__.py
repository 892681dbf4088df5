"""Raft as etcd runs it: ``log`` folds one member's log into facts, ``rules`` judges the facts of a cluster."""
