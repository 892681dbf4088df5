"""Engines that read rows of the warehouse and hand them to Python: Spark, and this machine with DuckDB."""
