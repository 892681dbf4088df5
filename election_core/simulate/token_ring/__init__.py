"""Worlds of rings, in both forms of their election: what befalls them, and which findings their events prove."""
