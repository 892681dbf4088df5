"""Broker sets with a configured master (id 0) and, where switched on, a slave that acts for it (RIP-32)."""
