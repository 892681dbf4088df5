"""Order locks of RocketMQ: ``log`` folds each broker's lock table, ``rules`` finds locks with two holders."""
