"""Order locks of RocketMQ: ``log`` folds each broker's lock table, ``rules`` judges who held what at once."""
