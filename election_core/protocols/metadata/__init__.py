"""Metadata: what a broker keeps beside the messages, and whether it survives a hand-over."""
