"""The Delta tables: names, versions, commits and data files."""
