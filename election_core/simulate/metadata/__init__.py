"""Worlds in which an acting master hands over: what consumers have read, and what goes back."""
