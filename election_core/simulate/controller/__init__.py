"""Worlds of brokers under a controller: how they write their logs, what befalls them, and what their logs prove."""
