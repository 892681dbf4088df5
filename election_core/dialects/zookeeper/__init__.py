"""ZooKeeper: what the servers of an ensemble print about elections."""
