"""The settings: what may be set, what is set, and where that comes from."""
