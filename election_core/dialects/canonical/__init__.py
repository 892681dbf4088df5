"""Canonical events as JSON lines, for systems without a dialect of their own."""
