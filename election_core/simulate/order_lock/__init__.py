"""Worlds of order locks: consumers that lock queues at the brokers of a set, and what the brokers' logs prove of it."""
