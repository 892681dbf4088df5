"""What is published, read without Spark: tables, views, incidents, explanations."""
