"""Worlds in which an acting master hands over: consumers' offsets, and offsets that go back."""
