"""The front door: sources into facts, groups into rows, and what one night leaves for the next."""
