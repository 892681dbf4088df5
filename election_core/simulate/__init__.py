"""Worlds with known faults: executable protocols on simulated machines, clocks, disks and networks.

``world``  one seeded history of a group: virtual time, faults, and what really happened
"""
