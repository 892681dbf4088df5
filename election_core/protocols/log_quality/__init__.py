"""The quality of the logs themselves; not the protocol of any system."""
