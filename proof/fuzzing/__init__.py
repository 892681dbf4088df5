"""Broken files, found by how much of the landing they reach: no crash, no lost line, bounded time and memory."""
