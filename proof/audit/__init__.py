"""Verdicts on real clusters held against what clients, an observer and the one who broke them wrote down."""
