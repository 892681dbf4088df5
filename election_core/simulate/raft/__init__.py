"""Worlds of etcd clusters: how they write their logs, what befalls them, and which findings their logs prove."""
