"""What moves batches: the Spark session, and the place where Spark hands rows to Python."""
