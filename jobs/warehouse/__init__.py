"""The Delta tables, without Spark: names, versions, commits, data files and upkeep."""
