"""Worlds of broker sets with acting masters: how brokers and name servers write, what befalls them, what logs prove."""
