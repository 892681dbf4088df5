"""Worlds with known faults: executable protocols on simulated machines, clocks, disks and networks.

``explore``  every interleaving of a small group, searched for a broken invariant
``world``    one seeded history of a group: virtual time, faults, and what really happened
"""
