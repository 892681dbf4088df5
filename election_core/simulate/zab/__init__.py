"""Worlds of ZooKeeper ensembles: how they write their logs, what befalls them, and which findings their logs prove."""
