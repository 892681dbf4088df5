"""What makes readers see a run, and what keeps a cluster back from it."""
