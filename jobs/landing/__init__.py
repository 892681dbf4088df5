"""Turn log files into rows: list the landing zone, read its files, and keep the lines of interest."""
