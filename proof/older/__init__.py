"""Warehouses of older commits under today's code, and the other way round."""
