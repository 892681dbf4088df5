"""Spark: its session, the tables as it sees them, and the place where it hands rows to Python."""
