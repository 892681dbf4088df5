"""Shared data types: events, facts, rows, the catalogue of rules, and quorum arithmetic."""
