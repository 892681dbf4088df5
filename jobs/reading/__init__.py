"""Readers of published tables, without Spark: queries, views, incidents, stories, explanations."""
