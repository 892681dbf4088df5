"""Ring elections: ``log`` folds the nodes' events into facts, ``rules`` judges the facts of a ring."""
