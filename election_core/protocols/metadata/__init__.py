"""Metadata: what a broker keeps beside the messages, and what becomes of it when another one serves."""
