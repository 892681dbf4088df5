"""DLedger groups: ``log`` folds one node's log into facts, ``rules`` judges the facts of a group."""
