"""The SQL endpoint: what clients may say there, and which run they then read."""
