"""Worlds of Bully groups: what befalls them, and which findings their events prove."""
