"""Worlds of brokers that get, keep, lose and copy their ids."""
