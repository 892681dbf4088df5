"""ZAB as ZooKeeper runs it: ``log`` folds one server's log into facts, ``rules`` judges the facts of an ensemble."""
