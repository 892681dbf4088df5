"""Publishing a run so that readers see it, and holding clusters back from it."""
